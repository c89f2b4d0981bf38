"""Progress bars for whatever tells its steps: searches, trainings, replays. Needs the extra `cli`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from biasbounty.errors import MissingExtraError


@contextmanager
def progress_bar(words: str = "working", console: Any = None) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; what it gives is to be handed over as `progress=`.

    Args:
        words: What is being done.
        console: A console of rich's to draw on; a terminal or notebook is found by itself, elsewhere nothing is drawn.
    """
    rich = _rich()
    console = console or rich.get_console()
    with rich.progress.Progress(console=console, transient=True, disable=not _shows(console)) as progress:
        task = progress.add_task(words, total=None)

        def told(done: int, steps: int) -> None:
            progress.update(task, completed=done, total=steps)

        yield told


def _shows(console: Any) -> bool:
    return bool(console.is_terminal or console.is_jupyter)


def _rich() -> Any:
    try:
        import rich
        import rich.progress
    except ImportError as error:
        raise MissingExtraError(
            f'progress bars need {error.name}: install the extra (pip install "biasbounty[cli]")'
        ) from error
    return rich
