"""The command line: one file for each command, and the only place that prints. Needs the extra `cli`."""

import sys


def main() -> None:
    """Run `biasbounty`; without the extra, say what to install."""
    try:
        from biasbounty.cli.app import app
    except ImportError as error:
        sys.exit(f"biasbounty: the command line needs {error.name}: install biasbounty[cli,report,server,client]")
    app()
