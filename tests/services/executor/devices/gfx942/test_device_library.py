"""Getting AMD's device library on a machine without it: apt's programs and dpkg-deb are scripted."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from services.executor.devices.gfx942.device_library import PACKAGE, fetch_if_possible, find

APT_GET = """#!/bin/sh
for last; do true; done
echo "$last" >>"$CALLS"
[ -z "$FAULT" ] || { echo "E: $FAULT" >&2; exit 100; }
touch "${last}_5.2.3-4_amd64.deb"
"""
APT_CACHE = """#!/bin/sh
printf '%s\\n' $KNOWN
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
echo bitcode >"$3/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages that apt-get was asked for, one a line."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE), ("dpkg-deb", DPKG_DEB)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("FAULT", "")
    monkeypatch.setenv("KNOWN", "")
    return tmp_path / "calls"


def test_it_is_unpacked_into_the_cache(calls: Path, tmp_path: Path) -> None:
    assert fetch_if_possible(tmp_path / "cache") == ""
    found = find(tmp_path / "cache", tmp_path / "an empty machine")
    assert found is not None
    assert found.title == f"Debian's {PACKAGE} (unpacked)"


@pytest.mark.parametrize(
    ("known", "taken"),
    [
        ("", "rocm-device-libs"),
        ("rocm-device-libs", "rocm-device-libs"),
        ("rocm-device-libs-9 rocm-device-libs-17", "rocm-device-libs-17"),
    ],
)
def test_the_package_of_the_newest_llvm_is_taken(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str, taken: str
) -> None:
    monkeypatch.setenv("KNOWN", known)
    assert fetch_if_possible(tmp_path / "cache") == ""
    assert calls.read_text().splitlines() == [taken]


def test_a_machine_without_network_asks_once_a_day(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAULT", "Could not resolve the mirror's name")
    reasons = [fetch_if_possible(cache) for _ in range(3)]
    assert all("Could not resolve the mirror's name" in reason for reason in reasons)
    assert calls.read_text().splitlines() == [PACKAGE]
    monkeypatch.setenv("FAULT", "")
    (note,) = cache.iterdir()
    yesterday = time.time() - 90_000
    os.utime(note, (yesterday, yesterday))
    assert fetch_if_possible(cache) == ""
    assert [path.name for path in cache.iterdir()] == [PACKAGE]


def test_a_machine_without_apt_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch_if_possible(tmp_path / "cache") == "there is no apt-get here"
