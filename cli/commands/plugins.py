"""`wavepool plugins`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from wavepool_client.commands.options import JsonOption  # noqa: TC001 - typer reads annotations at run time
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.result_printing import table_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS = {
    "wavepool.orderings": ("ordering", "SCHEDULER_ORDERINGS"),
    "wavepool.placements": ("placement", "SCHEDULER_PLACEMENTS"),
    "wavepool.alert_channels": ("alert channel", "BILLING_ALERT_CHANNELS"),
    "wavepool.providers": ("provider", "VMPOOL_PROVIDERS"),
    "wavepool.devices": ("device", "EXECUTOR_DEVICE"),
}
"""The word for a plug-in of each entry point group, and the setting that puts one into use."""
BUILT_IN = {"ordering": ("age", "classic"), "placement": ("pack", "spread")}
"""Those that are no entry points, as they are always there."""


def plugins(*, as_json: JsonOption = False) -> None:
    """List the plug-ins that are installed on this machine, and the setting that enables each.

    `wavepool queues` shows which orderings and placements are in use, and those that fail.
    """
    found = [
        {
            "kind": kind,
            "name": point.name,
            "package": point.dist.name if point.dist else None,
            "version": point.dist.version if point.dist else None,
            "target": point.value,
            "setting": setting,
        }
        for group, (kind, setting) in KINDS.items()
        for point in sorted(entry_points(group=group), key=_place)
    ]
    found += [
        {"kind": kind, "name": name, "package": None, "version": None, "target": None, "setting": None}
        for kind, names in BUILT_IN.items()
        for name in names
    ]
    if as_json:
        print_json(found)
        return
    rows = ((one["kind"], one["name"], one["package"] or "built in", one["version"], one["setting"]) for one in found)
    results.print(table_of(("kind", "name", "package", "version", "setting"), rows))


def _place(point: EntryPoint) -> tuple[str, str]:
    return point.name, point.dist.name if point.dist else ""
