"""`biasbounty serve` and `biasbounty worker`: the service at work, until it is told to stop."""

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biasbounty.cli.output import AsJson
from biasbounty.cli.place import place_of

if TYPE_CHECKING:
    from biasbounty.service.context import Limits
    from biasbounty.service.service import Service

Weak = Annotated[
    bool,
    typer.Option(
        "--allow-weak-sandbox",
        help="Run submitted models where the system has neither user namespaces nor Landlock to lock them in.",
    ),
]
Workers = Annotated[int, typer.Option(min=0, max=64, help="How many submissions to score at once.")]
Memory = Annotated[int, typer.Option(min=64, metavar="MB", help="How much memory a submitted model may use.")]
Seconds = Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How long a submitted model may run.")]
Hold = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Give no verdict sooner than this after receipt, so that its time does not tell which models were slow.",
        show_default="4 x --model-seconds",
    ),
]
Webhook = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="Post events to this address, signed; may be given again. Needs --webhook-secret.",
        show_default=False,
    ),
]
Secret = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        envvar="BIASBOUNTY_WEBHOOK_SECRET",
        help="What events are signed by: 16 characters or more. Better given by BIASBOUNTY_WEBHOOK_SECRET.",
        show_default=False,
    ),
]
LOOK_SECONDS = 0.2


def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8000,
    workers: Workers = 1,
    model_seconds: Seconds = 10.0,
    model_memory: Memory = 1024,
    hold: Hold = None,
    webhook: Webhook = None,
    webhook_secret: Secret = "",
    allow_weak: Weak = False,
    as_json: AsJson = False,
) -> None:
    """Serve, score and judge, until interrupted.

    Prints the address once it listens; the log goes to stderr. With --workers 0 it only serves and judges, and
    `biasbounty worker` scores, on this machine or on others that share the PostgreSQL database.
    """
    limits = _limits(model_memory, model_seconds, hold, allow_weak)
    with _sandbox_tried(limits):
        from biasbounty.server import Background, Hook, Webhooks, create_app
        from biasbounty.server import serve as run
    place, hooks = place_of(ctx), [Hook(url, webhook_secret) for url in webhook or ()]

    def told(address: str) -> None:
        words = f"Serving at {address}; Ctrl-C stops it. Verdicts come {limits.hold:g} s after receipt (--hold)."
        typer.echo(json.dumps({"url": address, "hold": limits.hold}) if as_json else words)

    with (
        place.service(limits) as service,
        Background(service, workers=workers) as background,
        Webhooks(service, hooks, place.home / "webhooks"),
    ):
        run(create_app(service, wake=background.wake), host, port, told=told)


def worker(
    ctx: typer.Context,
    workers: Workers = 1,
    judge: Annotated[
        bool, typer.Option("--judge/--no-judge", help="Judge what is scored, too: where no server runs.")
    ] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End once nothing waits to be scored, or with --judge judged.")
    ] = False,
    model_seconds: Seconds = 10.0,
    model_memory: Memory = 1024,
    hold: Hold = None,
    allow_weak: Weak = False,
    as_json: AsJson = False,
) -> None:
    """Score submissions, until interrupted.

    Any number of workers may run at once, on any number of machines. `biasbounty serve` judges what they score.
    """
    limits = _limits(model_memory, model_seconds, hold, allow_weak)
    with _sandbox_tried(limits):
        from biasbounty.server import Background
    with place_of(ctx).service(limits) as service, _ended_by_signals(), Background(service, workers, judge=judge):
        typer.echo(json.dumps({"workers": workers}) if as_json else f"{workers} at work; Ctrl-C stops it.")
        while not (until_idle and _is_idle(service, judge)):
            time.sleep(LOOK_SECONDS)


def _limits(memory: int, seconds: float, hold: float | None, weak: bool) -> "Limits":
    from biasbounty.service.context import Limits

    held = Limits(seconds=seconds).steady if hold is None else hold
    return Limits(memory_mb=memory, seconds=seconds, hold=held, allow_weak=weak)


@contextmanager
def _sandbox_tried(limits: "Limits") -> Iterator[None]:
    """Start a sandbox meanwhile: where none is to be had, or only a weak one, nothing is served."""
    import numpy as np

    with ThreadPoolExecutor(1) as trying:
        tried = trying.submit(lambda: limits.sandbox(np.zeros((1, 1))).close())
        yield
        tried.result()


def _is_idle(service: "Service", judge: bool) -> bool:
    """Say whether nothing is left to do."""
    if judge:
        return not any(view.judged < view.received for view in service.bounties())
    counts = service.counts()
    return not (counts.get("received") or counts.get("scoring"))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, in order; either is no error."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
