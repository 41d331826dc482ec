"""Devices whose library fails if a sandbox shows other devices of the kind that it may not open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from services.executor.devices.device import Device


@runtime_checkable
class DisturbedByOthers(Protocol):
    """A device that others disturb: an addition to Device, found with `isinstance`."""

    def others_in_sight(self) -> Sequence[str]:
        """Return the nodes of other devices of this kind on the machine."""
        ...


def refusal(device: Device, *, shows_all_nodes: bool) -> str:
    """Return why runs cannot find `device` if a sandbox shows nodes that it may not open; empty if they can."""
    if not shows_all_nodes or not isinstance(device, DisturbedByOthers):
        return ""
    others = device.others_in_sight()
    if not others:
        return ""
    return (
        f"no run would find its GPU: this sandbox has no root of its own, so that a run sees {', '.join(others)} and "
        "may not open them, by which ROCm's runtime fails. Use a sandbox with a root of its own "
        "(EXECUTOR_SANDBOX=required, which needs bubblewrap and namespaces; in containers "
        "VMPOOL_DSTACK_PRIVILEGED=true or VMPOOL_DOCKER_PRIVILEGED_BOXES=true), or give this machine or container the "
        "render node of one GPU alone"
    )
