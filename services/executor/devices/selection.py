"""Devices of which a run gets a part: those of several that its lease is on, or some of the host's processors."""

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


@runtime_checkable
class OnProcessors(Protocol):
    """A device whose kernels run on the host's processors: an addition to Device, found out by `isinstance`."""

    def within(self, cores: float) -> Device:
        """The same with no more threads at work than that, so that a sandbox of so many cores never stops them."""
        ...


def within(device: Device, cores: float) -> Device:
    """`device` in a sandbox of so many cores; itself where its kernels run elsewhere."""
    return device.within(cores) if isinstance(device, OnProcessors) else device
