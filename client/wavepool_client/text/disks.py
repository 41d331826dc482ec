"""Describes disks; pure, and tolerant of missing fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from wavepool_client.text.columns import Column, Fields, written
from wavepool_client.text.counts import counted
from wavepool_client.text.start_times import time_text

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


def state_text(disk: Fields) -> str:
    """What becomes of it now."""
    state = str(disk.get("state") or "").replace("_", " ")
    removed = time_text(disk.get("remove_time"))
    return f"{state}, removed {removed}" if removed else state


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


def _snapshots(disk: Fields) -> list[Fields]:
    return cast("list[Fields]", disk.get("snapshots") or [])


def _last(disk: Fields) -> Fields:
    return (_snapshots(disk) or [{}])[-1]


def _file_size(file: Fields) -> str:
    return "" if str(file.get("path")).endswith("/") else size_text(file.get("size_bytes"))


def _most_size(disk: Fields) -> str:
    """The most that its snapshots take: they share what they have in common."""
    return size_text(sum(int(one.get("size_bytes") or 0) for one in _snapshots(disk)))


_LIMIT = written("size_limit_bytes", size_text)
DISKS: Mapping[str, Column] = {
    "name": "name",
    "state": state_text,
    "size": lambda disk: size_text(_last(disk).get("size_bytes", 0)),
    "limit": _LIMIT,
    "files": lambda disk: _last(disk).get("files", 0),
    "safe until": written("safe_time"),
    "last used": written("last_used_time"),
    "reservation": "reservation_id",
}
CONTENT: Mapping[str, Column] = {"path": "path", "size": _file_size, "changed": written("time")}
USAGE: Mapping[str, Column] = {
    "name": "name",
    "state": state_text,
    "last snapshot": lambda disk: size_text(disk.get("size_bytes") or 0),
    "snapshots": lambda disk: len(_snapshots(disk)),
    "at most in all": _most_size,
    "limit": _LIMIT,
}
