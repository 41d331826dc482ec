"""Devices of which a machine may have several, of which a run gets those that its lease is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.device import Device


@runtime_checkable
class Selectable(Protocol):
    """A device that can stand for others of its kind: an addition to Device, found out by `isinstance`."""

    def on(self, devices: Sequence[int]) -> Device:
        """The same, for the devices with these numbers: GPUs, or their partitions, in the order of the inventory."""
        ...


def selected(device: Device, devices: Sequence[int]) -> Device:
    """`device` on these devices; itself where none are named, or where there is nothing to select."""
    return device.on(devices) if devices and isinstance(device, Selectable) else device
