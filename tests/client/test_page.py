"""What docs/client.md says to write, runs."""

import re
from pathlib import Path
from typing import Any

from tests.client.stage import on_stage

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    with on_stage(tmp_path) as stage:
        known: dict[str, Any] = {"url": stage.url, "token": stage.token()}
        exec(compile("\n".join(examples), str(PAGE), "exec"), known)  # noqa: S102
        known["client"].close()
        assert stage.service.bounty(stage.bounty).round >= 1
