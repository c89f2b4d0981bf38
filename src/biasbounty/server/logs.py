"""Logs: one JSON object a line, of fields that we name. No secret, no row and no words of an unforeseen error."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

LOG = logging.getLogger("biasbounty.server")


class Lines(logging.Formatter):
    """Writes a record as a line of JSON; of an exception only its kind and where it was raised."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= raised(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def raised(error: BaseException) -> dict[str, Any]:
    """Return what may be logged of an exception: its kind and where it was raised, not what it says."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "raised": places}


def log_to(handler: logging.Handler) -> None:
    """Let the server and uvicorn write lines to a handler."""
    handler.setFormatter(Lines())
    for name in ("biasbounty", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
