from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, start

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """One running Wavepool for the tests of this pytest process."""
    running = start(tmp_path_factory.mktemp("wavepool"))
    yield running
    running.stop()
