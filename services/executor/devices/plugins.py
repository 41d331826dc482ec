"""Devices as plug-ins: entry points of the group `wavepool.devices`.

Each names a callable without arguments that returns a Device (`device.py` has the interface).
"""

from __future__ import annotations

from typing import cast

from servicekit.settings.plugins import PluginGroup
from services.executor.devices.device import Device

DEVICES = PluginGroup("wavepool.devices", "device", ("describe", "toolchain", "build_command", "run_command"))


def device_names() -> tuple[str, ...]:
    """Return the names of the installed devices."""
    return DEVICES.names()


def device_named(name: str) -> Device:
    """Return the device, which is imported only here; raises UnknownPluginError, BrokenPluginError."""
    return cast("Device", DEVICES.make(name))
