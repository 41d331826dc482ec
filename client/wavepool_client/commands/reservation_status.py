"""`wavepool status`, `queue-status`, and `reservations debug`: what goes on, and why."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from wavepool_client.commands.options import GpuTypeOption, Shown, answered
from wavepool_client.commands.reservation_lookup import ReservationArgument, find_whole_reservation
from wavepool_client.errors import WavepoolError
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.availability import AVAILABILITY_COLUMNS, availability_row, queue_head_text
from wavepool_client.text.reservation_advice import explanation
from wavepool_client.text.reservations import choice_text, place_text

TOTALS = ("total_gpus", "free_gpus", "reserved_gpus", "queue_length")


def debug(client: ReservationClient, reservation: ReservationArgument = "") -> Shown:
    """Explain a reservation: why it waits, failed or ended, its steps, its last events, and what to do."""
    found = find_whole_reservation(client, reservation)
    events = client.events_so_far(str(found["id"]))
    machine: dict[str, Any] = {}
    if found.get("machine_id"):
        # Not every user may see machines, and one that is gone may be forgotten.
        with suppress(WavepoolError):
            machine = client.ask("GET", "machines", str(found["machine_id"]))
    why: dict[str, Any] = {}
    if found.get("state") in {"pending", "queued"}:
        # It may have started meanwhile.
        with suppress(WavepoolError):
            why = client.ask("GET", "submissions", str(found["id"]), "why")
    yield {
        "reservation": found,
        "events": [{"id": one.seq, **one.data} for one in events],
        "machine": machine or None,
        "why": why or None,
    }
    for line in explanation({"waits_because": why.get("reason"), **found}, events, machine, datetime.now(UTC)):
        results.print(line, markup=False)


@answered
def queue_status(client: ReservationClient, *, gpu_type: GpuTypeOption = "") -> Shown:
    """Show the queue of each GPU type, why the first in line waits, and where and why your reservations wait."""
    types = client.availability(gpu_type)
    names = {str(one.get("gpu_type")) for one in types}
    waiting = [one for one in client.reservations(("queued",)) if not gpu_type or one.get("gpu_type") in names]
    waiting.sort(key=lambda one: one.get("position") or len(waiting) + 1)
    yield {"gpu_types": types, "queued": waiting}
    yield table_of(AVAILABILITY_COLUMNS, map(availability_row, types))
    now = datetime.now(UTC)
    for line in filter(None, (queue_head_text(one, now) for one in types)):
        results.print(line, markup=False)
    for one in waiting:
        results.print(f"{choice_text(one)}, {place_text(one, now)}", markup=False)
        if one.get("message"):
            results.print(f"    {one['message']}", markup=False)
    if not waiting:
        yield "none of your reservations is waiting"


@answered
def status(client: ReservationClient) -> Shown:
    """Show the pool in numbers: GPUs, free and reserved ones, your active reservations, and the queue's length."""
    types = client.availability()
    active = len(client.reservations(("active",), str(client.me()["user_id"])))
    totals = {name: sum(int(one.get(name) or 0) for one in types) for name in TOTALS}
    # Each type has what is left of one limit.
    startable = max((int(one.get("startable_gpus") or 0) for one in types), default=0)
    yield {**totals, "startable_gpus": startable, "my_active_reservations": active}
    rows = [
        ("GPUs", totals["total_gpus"]),
        ("free", totals["free_gpus"]),
        ("of machines that can be started", startable),
        ("reserved", totals["reserved_gpus"]),
        ("your active reservations", active),
        ("waiting submissions and reservations", totals["queue_length"]),
    ]
    yield table_of(("", ""), rows)
