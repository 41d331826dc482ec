"""Describes the events of reservations; pure, and tolerant of missing fields."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.machines import start_text as machine_start_text
from wavepool_client.text.reservations import hours_text, short_time, start_text, users_text, wait_text
from wavepool_client.text.start_times import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from wavepool_client.http.event_stream import Event

Fields = dict[str, Any]

TRACE_COLUMNS = ("time", "after", "event", "")


def narrate_reservation(event: Event) -> str:
    """One line for people about an event; the gateway's own text if it has one."""
    narrator = _NARRATORS.get(event.status)
    said = narrator(event.data) if narrator else ""
    return said or str(event.data.get("message") or "") or event.status.capitalize().replace("_", " ")


def narrate_with_time(event: Event) -> str:
    """The same, behind its local time with milliseconds, such as `22:05:00.250`."""
    time = event_time(event)
    return f"{time} {narrate_reservation(event)}" if time else narrate_reservation(event)


def event_time(event: Event, zone: tzinfo | None = None) -> str:
    """The local time of an event, such as `22:05:00.250`; empty if it has none."""
    instant = event.data.get("timestamp")
    if not isinstance(instant, int | float):
        return ""
    return datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone).strftime("%H:%M:%S.%f")[:-3]


def trace_rows(events: Sequence[Event], zone: tzinfo | None = None) -> list[Sequence[object]]:
    """A line for each event: when it was, how long after the one before, which, and what happened."""
    rows: list[Sequence[object]] = []
    before: object = None
    for event in events:
        now = event.data.get("timestamp")
        passed = now - before if isinstance(now, int | float) and isinstance(before, int | float) else None
        after = "" if passed is None else f"+{short_time(passed / 1000)}"
        rows.append((event_time(event, zone), after, event.status, narrate_reservation(event)))
        before = now
    return rows


def _users_changed(fields: Fields) -> str:
    did = users_text(fields)
    may = f"May log in now: {', '.join(map(str, fields.get('users') or []))}"
    return f"{may} ({fields['by']} {did})" if fields.get("by") and did else may


def _queued(fields: Fields) -> str:
    wait = wait_text(fields)
    said = str(fields.get("message") or "")
    return f"{said} (starts {wait})" if said and wait else said


def _preparing(fields: Fields) -> str:
    times = machine_start_text(
        *map(fields.get, ("elapsed_seconds", "estimate_seconds", "estimate_p90_seconds", "start_limit_seconds"))
    )
    said = str(fields.get("message") or fields.get("stage") or "")
    return f"{said} ({times})" if said and times else said


def _step(fields: Fields) -> str:
    seconds = fields.get("seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    where = f" on node {fields['node']}" if fields.get("node") else ""
    return f"{fields.get('name')} is ready{where}{took}"


def _active(fields: Fields) -> str:
    gaps = "".join(f"; {gap}" for gap in cast("list[str]", fields.get("gaps") or []))
    return f"People can log in until {time_text(fields.get('expires_at'))}{gaps}"


def _snapshot(fields: Fields) -> str:
    if fields.get("fault"):
        return f"The disk could not be saved: {fields['fault']}"
    if fields.get("is_unchanged"):
        return "The disk is saved: nothing has changed"
    seconds = short_time(fields.get("seconds"))
    return f"The disk is saved: {_gib(fields.get('size_bytes'))}, {counted(fields.get('files'), 'file')}, in {seconds}"


_NARRATORS: dict[str, Callable[[Fields], str]] = {
    "PENDING": lambda fields: f"It starts at {start_text(fields)}",
    "NO_SHOW": lambda fields: (
        f"There was no login: it is ended at {time_text(fields.get('ends_at'))}, and charged until then, "
        "unless you log in or extend it. If you do not need it, cancel it now"
    ),
    "RECALLED": lambda fields: (
        f"Queue {fields.get('queue')} needs its GPUs: it is ended at {time_text(fields.get('ends_at'))}. Save your work"
        if fields.get("ends_at")
        else f"It is no longer ended for queue {fields.get('queue')}"
    ),
    "QUEUED": _queued,
    "PREPARING": _preparing,
    "STEP": _step,
    "ACTIVE": _active,
    "LOGIN": lambda fields: f"{fields.get('user')} logged in with {fields.get('fingerprint')}",
    "LOGOUT": lambda fields: f"{fields.get('user')} is gone",
    "DISK": lambda fields: f"The disk: {_gib(fields.get('used_bytes'))} of {_gib(fields.get('share_bytes'))} are used",
    "OOM": lambda fields: (
        f"Memory ran out: {counted(fields.get('oom_count'), 'process was', 'processes were')} killed so far"
    ),
    "FETCHING": lambda fields: f"The image is fetched: {fields.get('percent')} %",
    "BUILDING": lambda fields: str(fields.get("text")),
    "COMMAND_ENDED": lambda fields: f"The image's own command has ended with status {fields.get('exit_status')}",
    "RESTORING": lambda fields: f"The disk is restored: {fields.get('percent')} %",
    "SNAPSHOT": _snapshot,
    "WARNING": lambda fields: f"Ends in {counted(fields.get('minutes_left'), 'minute')}",
    "EXPIRING": lambda _: "Its time is up",
    "EXTENDED": lambda fields: (
        f"{hours_text(fields.get('hours'))} more, until {time_text(fields.get('expires_at'))}{_by(fields)}"
    ),
    "USERS_CHANGED": _users_changed,
    "NOTIFIED": lambda fields: f"To {counted(fields.get('terminals'), 'terminal')}{_by(fields)}: {fields.get('text')}",
    "ENDING": lambda fields: (
        f"It is ended{_by(fields)}{': ' if fields.get('message') else ''}{fields.get('message') or ''}"
    ),
}


def _by(fields: Fields) -> str:
    return f", by {fields['by']}" if fields.get("by") else ""


def _gib(number: object) -> str:
    return f"{number / (1 << 30):.1f} GiB" if isinstance(number, int) else "?"
