"""Devices whose driver's library fails on others of their kind that a sandbox sees and may not open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.device import Device


@runtime_checkable
class DisturbedByOthers(Protocol):
    """An addition to Device, found out by `isinstance`."""

    def others_in_sight(self) -> Sequence[str]:
        """The nodes of others of its kind on this machine."""
        ...


def refusal(device: Device, *, shows_all_nodes: bool) -> str:
    """Why no run would find `device` in a sandbox that shows all nodes and opens its own alone; empty if one does."""
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
