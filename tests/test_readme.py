"""What the README says to run, runs, and prints what it says."""

import contextlib
import io
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _blocks(language: str, file: str = "README.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / file).read_text(), re.DOTALL | re.MULTILINE)


def test_the_readme_s_commands_run() -> None:
    commands = [line for block in _blocks("sh") for line in block.splitlines()]
    assert commands == ["make demo", "make test"]
    done = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=900)
    assert "4 accepted, 1 rejected, 1 repair; holdout risk 0.3052 -> 0.1780" in done.stdout
    # `make test` is what runs this test; here it is enough that make knows how.
    planned = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m pytest" in planned.stdout


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{page}.md" for page in ("finders", "predicates", "onnx", "sandbox", "export"))]
)
def test_examples_print_what_their_comments_say(page: str) -> None:
    example = "\n".join(_blocks("python", page))
    expected = re.findall(r"^ *print\(.*?\)\s+# (.*)$", example, re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, page, "exec"), {})  # noqa: S102
    assert expected
    assert printed.getvalue().splitlines() == expected


def test_contributing_s_commands_are_targets_of_the_makefile() -> None:
    for line in "".join(_blocks("sh", "CONTRIBUTING.md")).splitlines():
        target = line.split("#")[0].split()
        assert target[0] == "make"
        subprocess.run(["make", "-n", target[1]], cwd=ROOT, capture_output=True, check=True)
