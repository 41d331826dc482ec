"""Devices are plug-ins: entry points of the group `wavepool.devices`.

Each names a callable without arguments that gives a Device (`device.py` says what that has to do).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from servicekit.plugins import PluginGroup

if TYPE_CHECKING:
    from services.executor.devices.device import Device

DEVICES = PluginGroup("wavepool.devices", "device", ("describe", "toolchain", "build_command", "run_command"))


def device_names() -> tuple[str, ...]:
    """The devices that are installed."""
    return DEVICES.names()


def device_named(name: str) -> Device:
    """The device, imported only now; raises UnknownPluginError, BrokenPluginError."""
    return cast("Device", DEVICES.make(name))
