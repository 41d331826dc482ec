"""Devices of which a run gets a part: some of several GPUs, some compute units, or some of the host's processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from services.executor.devices.device import Device


@runtime_checkable
class Selectable(Protocol):
    """A device that can stand for others of its kind: an addition to Device, found with `isinstance`."""

    def on(self, devices: Sequence[int]) -> Device:
        """Return the same device for these numbers: GPUs, or their partitions, in the order of the inventory."""
        ...


def selected(device: Device, devices: Sequence[int]) -> Device:
    """Return `device` for these numbers; unchanged if there are none, or if the device is not Selectable."""
    return device.on(devices) if devices and isinstance(device, Selectable) else device


@runtime_checkable
class Preparable(Protocol):
    """A device whose toolchain can be prepared when the first run needs it."""

    def prepare(self) -> None:
        """Prepare the toolchain, if that was not done; raises ToolchainError."""
        ...


@runtime_checkable
class Maskable(Protocol):
    """A device with compute units that a run can leave to others: an addition to Device, found with `isinstance`."""

    def masked(self, first_eighth: int, eighths: int) -> Device:
        """Return the same device, whose kernels run on the compute units of these eighths of it alone.

        Nothing enforces that. Runs of other eighths have other units.
        """
        ...


def masked(device: Device, first_eighth: int, eighths: int) -> Device:
    """Return `device` for these eighths of its compute units; unchanged if there are none, or if it is not Maskable."""
    return device.masked(first_eighth, eighths) if eighths and isinstance(device, Maskable) else device


@runtime_checkable
class OnProcessors(Protocol):
    """A device whose kernels run on the host's processors: an addition to Device, found with `isinstance`."""

    def within(self, cores: float) -> Device:
        """Return the same device with at most `cores` threads, so that a sandbox of so many cores never stops them."""
        ...


def within(device: Device, cores: float) -> Device:
    """Return `device` for a sandbox of `cores` cores; unchanged if its kernels run elsewhere."""
    return device.within(cores) if isinstance(device, OnProcessors) else device
