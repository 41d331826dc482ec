"""`wavepool status`, `queue-status`, and `reservations debug`: what goes on, and why."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type
from wavepool_client.commands.options import (
    EndpointOption,  # noqa: TC001 - typer reads annotations at run time
    JsonOption,  # noqa: TC001
    TokenOption,  # noqa: TC001
)
from wavepool_client.commands.reservation_lookup import ReservationArgument, find_whole_reservation
from wavepool_client.errors import WavepoolError
from wavepool_client.pool_client import PoolClient
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.availability import AVAILABILITY_COLUMNS, availability_row, queue_head_text
from wavepool_client.text.reservation_advice import explanation
from wavepool_client.text.reservations import choice_text, place_text

GpuTypeOption = Annotated[
    str, typer.Option("--gpu-type", "-t", metavar="TYPE", autocompletion=complete_gpu_type, help="Only this type.")
]
TOTALS = ("total_gpus", "free_gpus", "reserved_gpus", "queue_length")


def debug(
    reservation: ReservationArgument = "",
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a reservation: why it waits, failed or ended, its steps, its last events, and what to do."""
    with ReservationClient(endpoint, token) as client:
        found = find_whole_reservation(client, reservation)
        events = client.events_so_far(str(found["id"]))
    machine: dict[str, Any] = {}
    if found.get("machine_id"):
        # Not everybody may see machines, and one that is gone may be forgotten.
        with suppress(WavepoolError), PoolClient(endpoint, token) as pool:
            machine = pool.machine(str(found["machine_id"]))
    if as_json:
        print_json(
            {
                "reservation": found,
                "events": [{"id": one.seq, **one.data} for one in events],
                "machine": machine or None,
            }
        )
        return
    for line in explanation(found, events, machine, datetime.now(UTC)):
        results.print(line, markup=False)


def queue_status(
    *,
    gpu_type: GpuTypeOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many wait for each GPU type, why the first in line waits, and where and why your reservations wait."""
    with ReservationClient(endpoint, token) as client:
        types = client.availability(gpu_type)
        names = {str(one.get("gpu_type")) for one in types}
        waiting = [one for one in client.reservations(("queued",)) if not gpu_type or one.get("gpu_type") in names]
    waiting.sort(key=lambda one: one.get("position") or len(waiting) + 1)
    if as_json:
        print_json({"gpu_types": types, "queued": waiting})
        return
    results.print(table_of(AVAILABILITY_COLUMNS, map(availability_row, types)))
    now = datetime.now(UTC)
    for line in filter(None, (queue_head_text(one, now) for one in types)):
        results.print(line, markup=False)
    for one in waiting:
        results.print(f"{choice_text(one)}, {place_text(one, now)}", markup=False)
        if one.get("message"):
            results.print(f"    {one['message']}", markup=False)
    if not waiting:
        say("none of your reservations waits")


def status(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the pool in numbers: GPUs, what is free and reserved, your active reservations, and how many wait."""
    with ReservationClient(endpoint, token) as client:
        types = client.availability()
        active = len(client.reservations(("active",), str(client.me()["user_id"])))
    totals = {name: sum(int(one.get(name) or 0) for one in types) for name in TOTALS}
    if as_json:
        print_json({**totals, "my_active_reservations": active})
        return
    rows = [
        ("GPUs", totals["total_gpus"]),
        ("free", totals["free_gpus"]),
        ("reserved", totals["reserved_gpus"]),
        ("your active reservations", active),
        ("waiting submissions and reservations", totals["queue_length"]),
    ]
    results.print(table_of(("", ""), rows))
