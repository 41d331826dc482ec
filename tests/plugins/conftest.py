from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.plugins.installing import install_all


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the three examples, installed."""
    return install_all(tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples are installed for this process."""
    monkeypatch.syspath_prepend(str(site))
    for module in ("wavepool_short_first", "wavepool_favoured_machines", "wavepool_journal_channel"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return site
