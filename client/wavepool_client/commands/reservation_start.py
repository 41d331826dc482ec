"""Makes a reservation and waits for it, for the commands `reserve` and `run`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.ssh.access import remember_identity
from wavepool_client.terminal.output import notes, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.text.reservations import added_key_texts, narrate_reservation, note_texts
from wavepool_client.text.start_times import start_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavepool_client.reservation_client import ReservationClient
    from wavepool_client.ssh.keys import Keys

ENDS = {"EXPIRED": ExitCode.NOT_ACCEPTED, "CANCELLED": ExitCode.NOT_ACCEPTED, "FAILED": ExitCode.UNAVAILABLE}


def wanted_fields(
    hours: float,
    gpus: int | None,
    gpu_type: str,
    queue: str,
    fallback_gpu: Sequence[str] | None,
    start_at: str = "",
    disk: str = "",
    image: str = "",
    *,
    distributed: bool = False,
    allow_slow_links: bool = False,
) -> dict[str, Any]:
    """The fields of a reservation that its quote has too; `start_at` is as people write it. Raises InputError."""
    start_time = start_of(start_at, datetime.now(UTC)).isoformat() if start_at else ""
    optional = {
        "gpu_type": gpu_type,
        "queue": queue,
        "fallback_gpu_types": fallback_gpu,
        "start_time": start_time,
        "disk": disk,
        "distributed": distributed,
        "allow_slow_links": allow_slow_links,
        "image": image,
    }
    given = {field: value for field, value in optional.items() if value}
    return {"hours": hours, "gpu_count": gpus or 1, **given}


def start(
    client: ReservationClient,
    wanted: Mapping[str, Any],
    name: str,
    keys: Keys,
    idempotency_key: str = "",
    *,
    only_these_keys: bool = False,
    verbose: bool = False,
) -> dict[str, Any]:
    """Makes a reservation, and says its id and state. Keys that Wavepool knows of the caller may log in, too."""
    named = {"name": name} if name else {}
    lines = [{"public_key": line} for line in keys.lines]
    own = {} if only_these_keys else {"own_keys": True}
    made = client.reserve({**wanted, **named, "keys": lines, **own}, idempotency_key)
    _tell_found(made, verbose=verbose)
    reservation_id = str(made["id"])
    if keys.identity is not None:
        remember_identity(reservation_id, keys.identity)
    say(f"{reservation_id} ({made.get('name')}) is {made.get('state')}")
    return made


def _tell_found(made: dict[str, Any], *, verbose: bool) -> None:
    """Says what Wavepool has to say about keys that it found."""
    for text in [*note_texts(made), *(added_key_texts(made, given=False) if verbose else ())]:
        say(text)


def show_until_active(client: ReservationClient, reservation_id: str, within_seconds: float | None = None) -> None:
    """Shows the steps until people can log in; leaves the command if it ends before.

    Raises TimeoutError if that takes longer than `within_seconds`, and UnreachableError if the events end too early.
    """
    with shown_on(notes, "Waiting for GPUs", narrate_reservation) as show_event:
        for event in client.events(reservation_id, within_seconds=within_seconds):
            show_event(event)
            if event.status == "ACTIVE":
                return
            if event.status in ENDS:
                raise typer.Exit(ENDS[event.status])
    raise UnreachableError(f"the events of {reservation_id} ended before it was active")


def tell_keys(keys: Keys) -> None:
    """Says which keys may log in; raises InputError if there are none."""
    if not keys.lines:
        raise InputError("no key may log in; give --key")
    for line in keys.lines:
        kind, _, rest = line.partition(" ")
        say(f"key from {keys.source}: {kind} {rest.partition(' ')[2] or '(no comment)'}")
