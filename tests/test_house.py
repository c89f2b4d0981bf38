"""The house is in order: what is public is documented and typed, imports are lazy, links lead somewhere."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import biasbounty

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "biasbounty").rglob("*.py"))
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "benchmarks/**/*.md")
    for page in ROOT.glob(pattern)
    if ROOT / "benchmarks" / "out" not in page.parents  # where peers are installed
)


def _public(tree: ast.AST) -> list[ast.FunctionDef | ast.ClassDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_opens_with_what_it_promises_and_documents_what_is_public(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    nested = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if inner is not node
    }
    bare = [node.name for node in _public(tree) if node not in nested and not ast.get_docstring(node)]
    assert bare == []


def test_every_public_name_is_documented() -> None:
    for name in biasbounty.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(biasbounty, name)), name


def test_importing_the_package_imports_no_extra_and_nothing_heavy() -> None:
    code = "import sys, biasbounty; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "sklearn",
        "scipy",
        "pyarrow",
        "pandas",
        "polars",
        "altair",
        "vl_convert",
        "typer",
        "rich",
        "onnxruntime",
        "sqlglot",
    }
    assert heavy.isdisjoint(loaded)


def test_importing_the_command_line_prepares_no_demo() -> None:
    code = "import sys, biasbounty.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"typer", "rich", "altair"}.isdisjoint(loaded)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_test_names_in_the_docs_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for path in re.findall(r"`((?:tests|src|benchmarks|docs)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", text):
        assert f"def {name}(" in tests, name


def test_the_requirements_are_hashed_and_name_no_address() -> None:
    for name in ("demo", "dev"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        pins = [line for line in text.splitlines() if line and not line.startswith((" ", "#", "\t"))]
        assert pins
        assert all("==" in pin for pin in pins)
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text


def test_the_demo_pins_agree_with_the_development_pins() -> None:
    pins = [
        {
            line.split(" ")[0]
            for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
            if "==" in line
        }
        for name in ("demo", "dev")
    ]
    assert pins[0] <= pins[1]
