from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from servicekit.settings.plugins import BrokenPluginError, UnknownPluginError
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.plugins import device_named, device_names

Install = Callable[..., None]

GOOD = """
class Device:
    def describe(self): return "described"
    def toolchain(self): ...
    def build_command(self, folder, kind): ...
    def run_command(self, folder, kind): ...
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts somebody's distribution with one device on the path, as an installer does."""

    def put(name: str, source: str, package: str = "theirs") -> None:
        folder = tmp_path / package
        metadata = folder / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{package}_device.py").write_text(source)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[wavepool.devices]\n{name} = {package}_device:Device\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, f"{package}_device", raising=False)

    return put


def test_our_own_devices_are_plug_ins_like_any_other() -> None:
    assert "cpu" in device_names()
    assert isinstance(device_named("cpu"), CpuDevice)


def test_somebody_elses_device_is_used_once_it_is_installed(install: Install) -> None:
    install("abacus", GOOD)
    assert "abacus" in device_names()
    assert device_named("abacus").describe() == "described"


def test_an_unknown_device_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownPluginError, match=r"'abacus' is not known here; known are .*cpu"):
        device_named("abacus")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import a_library_that_is_missing", "cannot be loaded: ModuleNotFoundError"),
        ("class Device:\n    def __init__(self): raise RuntimeError('no beads')", "RuntimeError: no beads"),
        ("class Other: ...", "AttributeError"),
        ("class Device:\n    def describe(self): ...", "gives no device: it has no toolchain"),
    ],
)
def test_a_broken_plug_in_is_named_with_its_package_and_fault(install: Install, source: str, said: str) -> None:
    install("abacus", source)
    with pytest.raises(BrokenPluginError, match=said) as caught:
        device_named("abacus")
    assert "'abacus' of theirs" in str(caught.value)


def test_two_packages_with_one_name_are_reported(install: Install) -> None:
    install("abacus", GOOD, "theirs")
    install("abacus", GOOD, "others")
    with pytest.raises(BrokenPluginError, match="others, theirs"):
        device_named("abacus")
