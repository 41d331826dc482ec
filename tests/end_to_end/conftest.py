from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, start
from tests.gateway.browser.conftest import browser

__all__ = ["browser", "wavepool"]


@pytest.fixture(scope="session")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """One running Wavepool for the tests of this pytest process."""
    running = start(tmp_path_factory.mktemp("wavepool"))
    yield running
    running.stop()
