"""Explains a reservation: why it is as it is, what came last, and what to do; pure, and tolerant of missing fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.reservation_events import narrate_reservation
from wavepool_client.text.reservations import gpus_text, host_name, show_rows, usd_text
from wavepool_client.text.start_times import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from wavepool_client.http.event_stream import Event

Fields = dict[str, Any]

LAST_EVENTS = 20
_ASKED_FOR = (
    *("why", "place", "until", "ended", "disk", "steps"),
    *("users", "last login", "out of memory", "not held back"),
)


def explanation(
    one: Fields, events: Sequence[Event], machine: Fields, now: datetime, zone: tzinfo | None = None
) -> list[str]:
    """The lines about one reservation; `machine` is empty if it has none, or if you may not see it."""
    rows = dict(show_rows(one, now, zone))
    lines = [f"{one.get('id')} ({one.get('name')}) is {one.get('state')}: {gpus_text(one)}"]
    lines += [f"  {name}: {rows[name]}" for name in _ASKED_FOR if name in rows]
    lines += [f"  waits: {one['waits_because']}"] if one.get("waits_because") else []
    if machine:
        why = str(machine.get("reason") or "")
        lines.append(
            f"  machine: {machine.get('id')} is {str(machine.get('state')).lower()}{f': {why}' if why else ''}"
        )
    lines += [
        "last events:",
        *(f"  {event.status:<16} {narrate_reservation(event)}" for event in events[-LAST_EVENTS:]),
    ]
    return [*lines, "what to do:", *(f"  {text}" for text in advice(one))]


def advice(one: Fields) -> list[str]:
    """What its owner can do now, the best first."""
    state, reservation_id = str(one.get("state")), one.get("id")
    said = {
        "pending": [
            "nothing: it starts by itself; follow it: wavepool reservations show ID -f",
            "log in soon after its start: an unused reservation is ended, and its GPUs go to others",
            "see the calendar: wavepool reservations calendar",
            "give it up: wavepool cancel ID",
        ],
        "queued": [
            "wait: wavepool reservations show ID -f",
            "see what is free now: wavepool avail; fewer GPUs, or --fallback-gpu TYPE, may start at once",
            "give it up: wavepool cancel ID",
        ],
        "preparing": [
            "wait: wavepool reservations show ID -f; nothing is charged before it is active",
            "more time can be added already: wavepool extend ID HOURS",
        ],
        "active": _active_advice(one),
        "expiring": _expiring_advice(one),
        "expired": _over_advice(one),
        "cancelled": _over_advice(one),
        "failed": [
            *_kept(one),
            f"reserve again: wavepool reserve{_charge(one)}",
            "if it fails again for no known reason, report the id and the reason above to the operator",
        ],
    }.get(state, [f"wavepool reservations show ID; this version knows no state {state!r}"])
    return [text.replace("ID", str(reservation_id), 1) for text in said]


def refusal_lines(one: Fields, offered: Sequence[str], caller: str = "") -> list[str]:
    """Why ssh may have ended with 255.

    `offered` are the private keys that it was given, and `caller` is the user's name; empty if it is not known.
    """
    state = str(one.get("state"))
    if state != "active":
        why = f" ({one['message']})" if one.get("message") else ""
        if state == "expiring":
            return [f"the reservation is ending{why}, and your connection ended with it: {_over_advice(one)[0]}"]
        return [f"the reservation is {state}{why} and does not accept logins: {advice(one)[0]}"]
    allowed = cast("list[Fields]", one.get("keys") or [])
    users = ", ".join(f"{key.get('user')} with {key.get('type')} {key.get('fingerprint')}" for key in allowed)
    users = users or ", ".join(map(str, cast("list[object]", one.get("users") or []))) or "no user"
    keys = ", ".join(offered) or "none"
    return [
        "ssh ended with 255: the login failed, the connection broke, or the command itself exited with 255",
        f"  after `Permission denied`: these users may log in: {users}; your keys were {keys} and your ssh agent's",
        f"  {_way_in(one, caller)}",
        f"  if the connection broke, connect again: wavepool connect {host_name(str(one.get('id')))}",
    ]


def _way_in(one: Fields, caller: str) -> str:
    """The way to be added to those who may log in."""
    edit, owner = f"wavepool reservations edit {one.get('id')} --add-user", one.get("owner")
    if caller and owner and owner != caller:
        return f"ask {owner} to add you: {edit} {caller}"
    return f"add yours with: {edit} NAME=FILE.pub"


def _expiring_advice(one: Fields) -> list[str]:
    ends = "it ends within two minutes, or half a minute if it was cancelled, and cannot be extended"
    if not one.get("disk_name"):
        return [f"save and copy what you need now, where you are connected: {ends}"]
    return [f"save your work now: {ends}; then its home is saved to disk {one['disk_name']}", *_kept(one)]


def _over_advice(one: Fields) -> list[str]:
    # Before people could log in, nobody had anything in its home.
    return _kept(one) or [f"reserve again: wavepool reserve{'; its home is removed' if one.get('active_at') else ''}"]


def _charge(one: Fields) -> str:
    """What a failed one costs: with a disk, the time until its last snapshot is paid for, as that is not lost."""
    cost = one.get("cost_usd")
    if not isinstance(cost, int | float):
        return ""
    if not cost:
        return "; nothing is charged for this one"
    return f"; {usd_text(cost)} is charged for the time that is saved; the rest is given back"


def _kept(one: Fields) -> list[str]:
    """How to go on with its disk; empty if it has none."""
    disk, safe, fault = one.get("disk_name"), time_text(one.get("disk_safe_time")), one.get("disk_fault")
    if not disk:
        return []
    lost = f"its last snapshot failed, so what was written after {safe or 'its start'} is lost: {fault}"
    return [f"your data on disk {disk} is kept: wavepool reserve --disk {disk}", *([lost] if fault else [])]


def _active_advice(one: Fields) -> list[str]:
    found = ["connect: wavepool connect ID"]
    if not (one.get("last_login_at") or one.get("extensions")):
        waited = "30 minutes after its start" if one.get("start_time") else "after an hour"
        found.append(f"log in soon: an unused reservation is ended {waited}, or after the operator's time")
    if one.get("oom_count"):
        found.append("use less memory, or more GPUs: a session's memory is its share of the machine")
    return [*found, "more time: wavepool extend ID HOURS"]
