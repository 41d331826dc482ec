"""Devices are plug-ins: entry points of the group `wavepool.devices`, ours and other people's alike.

An entry point names a callable without arguments that gives a Device (`device.py` says what that has to do). A
distribution that has one only needs to be installed beside ours.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

    from services.executor.devices.device import Device

GROUP = "wavepool.devices"
_METHODS = ("describe", "toolchain", "build_command", "run_command")


class UnknownDeviceError(ValueError):
    """No device has this name."""


class BrokenDeviceError(Exception):
    """A plug-in is installed, and gives no device; the message names it and what is wrong."""


def device_names() -> tuple[str, ...]:
    """The devices that are installed."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def device_named(name: str) -> Device:
    """The device, imported only now; raises UnknownDeviceError, BrokenDeviceError."""
    points = list(entry_points(group=GROUP, name=name))
    if not points:
        raise UnknownDeviceError(f"device: {name!r} is not known here; known are {', '.join(device_names())}")
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(_owner(point) for point in points))
        raise BrokenDeviceError(f"device: {name!r} is offered by several packages ({packages}); uninstall all but one")
    return _made(points[0])


def _made(point: EntryPoint) -> Device:
    where = f"device: the plug-in {point.name!r} of {_owner(point)} ({point.value})"
    try:
        device = cast("Callable[[], Device]", point.load())()
    except Exception as error:
        raise BrokenDeviceError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if missing := [method for method in _METHODS if not callable(getattr(device, method, None))]:
        raise BrokenDeviceError(f"{where} gives no device: it has no {', '.join(missing)}")
    return device


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"
