"""Makes a reservation and waits for it, for the commands `reserve` and `run`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import typer

from wavepool_client.errors import InputError, UnreachableError, WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.reservation_request import access_fields, check_price, quoted_fields
from wavepool_client.ssh.access import remember_identity
from wavepool_client.terminal.output import notes, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.text.availability import free_text
from wavepool_client.text.reservation_events import narrate_reservation, narrate_with_time
from wavepool_client.text.reservations import added_key_texts, note_texts, other_name_text, quote_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavepool_client.commands.reservation_options import ReservationOptions
    from wavepool_client.reservation_client import ReservationClient
    from wavepool_client.ssh.keys import Keys

ENDS = {"EXPIRED": ExitCode.NOT_ACCEPTED, "CANCELLED": ExitCode.NOT_ACCEPTED, "FAILED": ExitCode.UNAVAILABLE}


def show_quote(client: ReservationClient, wanted: Mapping[str, Any], max_price: float | None = None) -> None:
    """Says what it would cost, or what is free if there is no such GPU type or not so many GPUs.

    Raises InputError in that case, and if a GPU may cost more than `max_price` dollars per hour.
    """
    try:
        quote = client.quote(quoted_fields(wanted))
    except InputError as refusal:
        if not {"gpu_type", "gpu_count"}.isdisjoint(refusal.fields):
            with suppress(WavepoolError):
                say(free_text(client.availability()))
        raise
    say(quote_text(quote))
    check_price(quote, max_price, "--max-price")


def start(
    client: ReservationClient,
    wanted: Mapping[str, Any],
    options: ReservationOptions,
    keys: Keys,
    content: bytes,
    idempotency_key: str = "",
) -> dict[str, Any]:
    """Makes a reservation, and says its id and state; first sends what its image is built from, if there is any.

    Raises InputError if the keys are to be shown, and there are none.
    """
    if options.shows_keys:
        _show_keys(keys)
    access = access_fields(keys.lines, options.add_user or (), "--add-user", only_these_keys=bool(options.key))
    if content:
        say(f"sending the Dockerfile and its folder: {max(1, len(content) >> 10)} KiB, compressed")
    built = {"build_digest": client.upload(content)} if content else {}
    made = client.reserve({**wanted, **access, **built}, idempotency_key)
    _show_found(made, verbose=options.shows_keys)
    reservation_id = str(made["id"])
    if keys.identity is not None:
        remember_identity(reservation_id, keys.identity)
    say(f"{reservation_id} ({made.get('name')}) is {made.get('state')}")
    if other := other_name_text(made, wanted.get("name")):
        say(other)
    return made


def _show_found(made: dict[str, Any], *, verbose: bool) -> None:
    """Shows the keys that Wavepool found, and its notes on them."""
    keys = cast("list[dict[str, Any]]", made.get("added_keys") or [])
    others = {"added_keys": [key for key in keys if key.get("user") != made.get("owner")]}
    texts = [*added_key_texts(others, given=True), *note_texts(made)]
    texts += added_key_texts(made, given=False) if verbose else []
    for text in dict.fromkeys(texts):
        say(text)


def show_until_active(
    client: ReservationClient, reservation_id: str, within_seconds: float | None = None, *, trace: bool = False
) -> None:
    """Shows the steps until people can log in, with `trace` their times, too; leaves the command if it ends before.

    Raises TimeoutError if that takes longer than `within_seconds`, and UnreachableError if the events end too early.
    """
    describe = narrate_with_time if trace else narrate_reservation
    with shown_on(notes, "Waiting for GPUs", describe) as show_event:
        for event in client.events(reservation_id, within_seconds=within_seconds):
            show_event(event)
            if event.status == "ACTIVE":
                return
            if event.status in ENDS:
                raise typer.Exit(ENDS[event.status])
    raise UnreachableError(f"the events of {reservation_id} ended before it was active")


def _show_keys(keys: Keys) -> None:
    """Shows which keys may log in; raises InputError if there are none."""
    if not keys.lines:
        raise InputError("there is no key to log in with; give --key")
    for line in keys.lines:
        kind, _, rest = line.partition(" ")
        say(f"key from {keys.source}: {kind} {rest.partition(' ')[2] or '(no comment)'}")
