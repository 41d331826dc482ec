"""Describes what there is of each GPU type, and the calendar; pure, and tolerant of missing fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.machines import seconds_text
from wavepool_client.text.reservations import usd_text
from wavepool_client.text.start_times import instant_of, time_text

Fields = dict[str, Any]

AVAILABILITY_COLUMNS = (
    *("GPU", "free", "largest", "total", "reserved", "waiting", "$/h", "wait for 1", "2", "4", "8"),
    "to know",
)
CALENDAR_COLUMNS = ("GPU", "GPUs", "from", "until", "state", "owner", "machine")
SIZES = (1, 2, 4, 8)


def wait_texts(one: Fields) -> dict[int, str]:
    """How long each number of GPUs of a type would wait; empty if that is not known."""
    waits = {wait.get("gpu_count"): wait for wait in cast("list[Fields]", one.get("waits") or [])}
    return {size: _size_text(waits.get(size, {})) for size in SIZES}


def availability_row(one: Fields) -> Sequence[object]:
    """The line of a GPU type."""
    names = ("free_gpus", "largest_free", "total_gpus", "reserved_gpus", "queue_length")
    numbers = (one.get(name) for name in names)
    return (
        one.get("gpu_type"),
        *(str(number or 0) for number in numbers),
        usd_text(one.get("price_per_gpu_hour")),
        *wait_texts(one).values(),
        _notes_text(one),
    )


def queue_head_text(one: Fields, now: datetime) -> str:
    """What is the first in line for a GPU type, and why it waits; empty if nothing does."""
    head = cast("Fields", one.get("queue_head") or {})
    if not head:
        return ""
    since = instant_of(head.get("create_time"))
    waited = f", for {seconds_text((now - since).total_seconds())} now" if since else ""
    what = f"{head.get('gpu_fraction') or head.get('gpu_count') or 1} x {one.get('gpu_type')}"
    return f"first in line: {what}{waited}. {head.get('reason') or ''}".rstrip()


def free_text(types: Sequence[Fields]) -> str:
    """What is free of each GPU type, in a line."""
    free = (
        f"{one.get('free_gpus') or 0} of {one.get('total_gpus') or 0} {one.get('gpu_type')}"
        f" ({'; '.join((_largest(one), *_startable(one)))})"
        for one in types
    )
    return f"free now: {', '.join(free)}"


def _largest(one: Fields) -> str:
    return f"{one.get('largest_free') or 0} on one machine"


def _startable(one: Fields) -> list[str]:
    more = one.get("startable_gpus")
    return [f"{more} can be started"] if more else []


def calendar_row(one: Fields, zone: tzinfo | None = None) -> Sequence[object]:
    """The line of a reservation in the calendar."""
    whose = f"{one.get('owner')}: {one.get('name')}" if one.get("name") else "another user's"
    state = f"{one.get('state')}, late" if one.get("late") else one.get("state")
    times = (time_text(one.get(name), zone) for name in ("start_time", "end_time"))
    machines = ", ".join([one.get("machine_id") or "", *cast("list[str]", one.get("more_machine_ids") or [])])
    return (one.get("gpu_type"), str(one.get("gpu_count") or 0), *times, state, whose, machines)


def _size_text(wait: Fields) -> str:
    p50, p90 = wait.get("eta_p50"), wait.get("eta_p90")
    if not isinstance(p50, int | float):
        return ""
    usual = "now" if p50 < 1 else seconds_text(p50)
    return f"{usual} (9 of 10: {seconds_text(p90)})" if isinstance(p90, int | float) and p90 >= 1 else usual


def _notes_text(one: Fields) -> str:
    """What else is to be known of a GPU type."""
    start, closed = time_text(one.get("next_dated_time")), one.get("maintenance")
    notes = [*([f"in maintenance: {closed}"] if closed else []), *_startable(one)]
    return "; ".join([*notes, *([f"{counted(one.get('next_dated_gpus'), 'GPU')} kept for {start}"] if start else [])])
