"""The server: HTTP to `service.Service` and back, and nothing else. Needs the extra `server`."""

from biasbounty.errors import MissingExtraError

try:
    from biasbounty.server.app import create_app
    from biasbounty.server.serving import serve
except ImportError as error:  # pragma: no cover
    raise MissingExtraError(f"the server needs {error.name}: install biasbounty[server]") from error
from biasbounty.server.background import Background
from biasbounty.server.settings import Settings
from biasbounty.server.webhooks import Hook, Webhooks

__all__ = ["Background", "Hook", "Settings", "Webhooks", "create_app", "serve"]
