"""Remote: what hunters' commands share: the server, the token, the bounty, the group and the model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biasbounty.errors import SettingsError

if TYPE_CHECKING:
    from biasbounty.client import Client, RemoteBounty

Url = Annotated[
    str | None,
    typer.Option(envvar="BIASBOUNTY_URL", help="The server's address.", show_default=False),
]
Token = Annotated[
    str | None,
    typer.Option(envvar="BIASBOUNTY_TOKEN", help="A token; better in the environment than here.", show_default=False),
]
BountyId = Annotated[
    str | None,
    typer.Option("--bounty", help="The bounty's id; not needed where only one is open.", show_default=False),
]
GroupText = Annotated[
    str,
    typer.Argument(metavar="GROUP", help="Predicate text, such as 'AGEP < 25'; or an ONNX file, as @group.onnx."),
]
ModelFile = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="The model, as ONNX; if not given, a good one is fitted to the group's train rows.",
    ),
]


@contextmanager
def connected(url: str | None, token: str | None) -> "Iterator[Client]":
    """Connect to a server."""
    from biasbounty.client import Client

    if not url:
        raise SettingsError(
            "server is not named: expected its address, got none; give --url, or set BIASBOUNTY_URL (and "
            "BIASBOUNTY_TOKEN)"
        )
    with Client(url, token) as client:
        yield client


def read_group(given: str) -> Any:
    """Return a group from the command line: text, or the bytes of a file named after an @."""
    return _bytes(Path(given[1:])) if given.startswith("@") else given


def read_model(bounty: "RemoteBounty", group: Any, file: Path | None, tell: Any) -> tuple[Any, str]:
    """Return the model of a file, or one that is fitted, and what it is in words."""
    if file is not None:
        return _bytes(file), ""
    trained = bounty.train_on(group, progress=tell)
    return trained.model, str(trained)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingsError(f"file cannot be read: expected an ONNX file, got {file}: {error.strerror}") from error
