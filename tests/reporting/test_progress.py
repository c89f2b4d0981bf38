"""A bar shows how far a search or a training is, on a terminal alone."""

import io
import subprocess
import sys

import numpy as np
from rich.console import Console

from biasbounty.finders import BountyClassifier, SliceFinder
from biasbounty.reporting.progress import progress_bar

X = np.random.default_rng(0).normal(size=(3_000, 4))
Y = (X[:, 0] > 0).astype(int)


def _shown(*, terminal: bool) -> str:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=terminal, width=80)
    with progress_bar("searching", console) as bar:
        SliceFinder().find(X, Y, 1 - Y, np.random.default_rng(0), progress=bar)
    return drawn.getvalue()


def test_a_search_is_seen_on_a_terminal_to_its_end_and_not_elsewhere() -> None:
    shown = _shown(terminal=True)
    assert "searching" in shown
    assert "100%" in shown
    assert _shown(terminal=False) == ""


def test_a_training_tells_a_bar_how_far_it_is() -> None:
    drawn = io.StringIO()
    with progress_bar("training", Console(file=drawn, force_terminal=True, width=80)) as bar:
        BountyClassifier(random_state=0).fit(X, Y, progress=bar)
    assert "100%" in drawn.getvalue()


def test_without_rich_it_is_said_what_to_install() -> None:
    code = (
        "import sys; sys.modules['rich'] = None; from biasbounty.reporting.progress import progress_bar;"
        " progress_bar().__enter__()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'progress bars need rich: install the extra (pip install "biasbounty[cli]")' in done.stderr
