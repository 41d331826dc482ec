"""Describes disks; pure, and tolerant of missing fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.start_times import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

Fields = dict[str, Any]

CONTENT_COLUMNS = ("path", "size", "changed")
USAGE_COLUMNS = ("name", "state", "last snapshot", "snapshots", "at most in all", "limit")
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


def content_row(file: Fields, zone: tzinfo | None = None) -> Sequence[object]:
    """The line of a file."""
    path = str(file.get("path") or "")
    size = "" if path.endswith("/") else size_text(file.get("size_bytes"))
    return path, size, time_text(file.get("time"), zone)


def usage_row(disk: Fields, zone: tzinfo | None = None) -> Sequence[object]:
    """How much is on a disk. Its snapshots share what they have in common, so the sum is the most that they take."""
    snapshots = cast("list[Fields]", disk.get("snapshots") or [])
    return (
        disk.get("name"),
        state_text(disk, zone),
        size_text(disk.get("size_bytes") or 0),
        str(len(snapshots)),
        size_text(sum(int(one.get("size_bytes") or 0) for one in snapshots)),
        size_text(disk.get("size_limit_bytes")),
    )


def snapshot_text(taken: Fields) -> str:
    """What became of a snapshot that was asked for."""
    if taken.get("is_unchanged"):
        return "nothing has changed since the snapshot before"
    skipped = taken.get("skipped")
    left_out = f"; sockets, pipes and devices are left out ({skipped})" if skipped else ""
    seconds = taken.get("seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    return f"{size_text(taken.get('size_bytes'))}, {counted(taken.get('files'), 'file')}{took}{left_out}"


def holder_text(disk: Fields) -> str:
    """Who has a disk, and how it becomes free."""
    name, holder = disk.get("name"), disk.get("reservation_id")
    if not holder:
        return f"no reservation uses {name}: use it with `wavepool reserve --disk {name}`"
    state = state_text(disk)
    return (
        f"{name} is {state}: reservation {holder} uses it until it ends. End it with `wavepool cancel {holder}`, "
        f"or copy the last snapshot: `wavepool disk clone {name} NEW-NAME`"
    )


def disk_text(disk: Fields) -> str:
    """A disk among several, in a line."""
    safe = time_text(disk.get("safe_time"))
    what = f"{size_text(disk.get('size_bytes') or 0)} as of {safe}" if safe else "empty"
    return f"{disk.get('name')}: {what}"
