"""Getting AMD's device library on a machine without it: apt-get and dpkg-deb are scripted."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from services.executor.devices.gfx942.device_library import PACKAGE, fetch_if_possible, find

APT_GET = """#!/bin/sh
echo again >>"$CALLS"
[ -z "$FAULT" ] || { echo "E: $FAULT" >&2; exit 100; }
touch rocm-device-libs_5.2.3-4_amd64.deb
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
echo bitcode >"$3/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The calls of apt-get, one a line."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("apt-get", APT_GET), ("dpkg-deb", DPKG_DEB)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("FAULT", "")
    return tmp_path / "calls"


def test_it_is_unpacked_into_the_cache(calls: Path, tmp_path: Path) -> None:
    assert fetch_if_possible(tmp_path / "cache") == ""
    found = find(tmp_path / "cache", tmp_path / "an empty machine")
    assert found is not None
    assert found.title == f"Debian's {PACKAGE} (unpacked)"


def test_a_machine_without_network_asks_once_a_day(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAULT", "Could not resolve the mirror's name")
    reasons = [fetch_if_possible(cache) for _ in range(3)]
    assert all("Could not resolve the mirror's name" in reason for reason in reasons)
    assert calls.read_text().splitlines() == ["again"]
    monkeypatch.setenv("FAULT", "")
    (note,) = cache.iterdir()
    yesterday = time.time() - 90_000
    os.utime(note, (yesterday, yesterday))
    assert fetch_if_possible(cache) == ""
    assert [path.name for path in cache.iterdir()] == [PACKAGE]


def test_a_machine_without_apt_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch_if_possible(tmp_path / "cache") == "there is no apt-get here"
