"""A world for all tests of a file that change nothing others rely on."""

from collections.abc import Iterator

import pytest

from tests.server.worlds import World, a_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("home")) as made:
        yield made
