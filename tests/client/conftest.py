"""One bounty on a server for all tests that do not change how it stands for others."""

from collections.abc import Iterator

import pytest

from tests.client.stage import Stage, on_stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("service")) as running:
        yield running
