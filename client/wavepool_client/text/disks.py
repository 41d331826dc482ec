"""Describes disks; pure, and tolerant of missing fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.reservations import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

Fields = dict[str, Any]

LIST_COLUMNS = ("name", "state", "size", "limit", "files", "safe until", "last used", "reservation")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024


def size_text(number: object) -> str:
    """Bytes for people, such as `1.5 GiB`; empty if it is no number."""
    if not isinstance(number, int | float):
        return ""
    amount, units = float(number), list(_UNITS)
    while amount >= _STEP and len(units) > 1:
        amount /= _STEP
        units.pop(0)
    return f"{amount:.0f} {units[0]}" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def list_row(disk: Fields, zone: tzinfo | None = None) -> Sequence[object]:
    """The line of a disk."""
    snapshots = cast("list[Fields]", disk.get("snapshots") or [])
    last = snapshots[-1] if snapshots else {}
    return (
        disk.get("name"),
        state_text(disk, zone),
        size_text(last.get("size_bytes", 0)),
        size_text(disk.get("size_limit_bytes")),
        str(last.get("files", 0)),
        time_text(disk.get("safe_time"), zone),
        time_text(disk.get("last_used_time"), zone),
        disk.get("reservation_id"),
    )


def state_text(disk: Fields, zone: tzinfo | None = None) -> str:
    """What becomes of it now."""
    state = str(disk.get("state") or "").replace("_", " ")
    removed = time_text(disk.get("remove_time"), zone)
    return f"{state}, removed {removed}" if removed else state
