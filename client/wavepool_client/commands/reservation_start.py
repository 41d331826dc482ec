"""Makes a reservation and waits for it, for the commands `reserve` and `run`."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from wavepool_client.errors import InputError, UnreachableError, WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.ssh.access import remember_identity
from wavepool_client.ssh.keys import lines_of
from wavepool_client.terminal.output import notes, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.text.reservations import (
    added_key_texts,
    dearest_price,
    free_text,
    narrate_reservation,
    narrate_with_time,
    note_texts,
    quote_text,
    usd_text,
)
from wavepool_client.text.start_times import start_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavepool_client.reservation_client import ReservationClient
    from wavepool_client.ssh.keys import Keys

GITHUB = "github:"
AddUserOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-user",
        metavar="NAME[=FILE]",
        help="Somebody who may log in: a user of this Wavepool, github:NAME, or a name with a file of public keys.",
    ),
]
MaxPriceOption = Annotated[
    float | None,
    typer.Option(
        "--max-price",
        metavar="DOLLARS",
        min=0,
        help="The most that a GPU may cost per hour, with --fallback-gpu the dearest; above it nothing is reserved.",
    ),
]
TraceOption = Annotated[bool, typer.Option("--trace", help="As -v, and each step with its time.")]
ENDS = {"EXPIRED": ExitCode.NOT_ACCEPTED, "CANCELLED": ExitCode.NOT_ACCEPTED, "FAILED": ExitCode.UNAVAILABLE}


def people_of(text: str) -> list[dict[str, str]]:
    """The keys in `NAME=FILE`, or somebody whose keys are to be looked up, as the gateway takes them.

    Raises InputError.
    """
    name, separator, file = text.partition("=")
    if not name or name == GITHUB or (separator and not file):
        raise InputError(f"--add-user: is {text!r}; give a name such as bob or github:bob, or a file too: bob=bob.pub")
    if not separator:
        return [{"user": name}]
    if name.startswith(GITHUB):
        raise InputError(f"--add-user: is {text!r}; leave the file out, or give a name without {GITHUB}")
    return [{"user": name, "public_key": line} for line in lines_of(Path(file))]


def wanted_fields(
    hours: float,
    gpus: int | None,
    gpu_type: str,
    queue: str,
    fallback_gpu: Sequence[str] | None,
    start_at: str = "",
    disk: str = "",
    image: str = "",
    **flags: bool,
) -> dict[str, Any]:
    """The fields of a reservation that its quote has too.

    `start_at` is as people write it, and `flags` have the names of their fields. Raises InputError.
    """
    start_time = start_of(start_at, datetime.now(UTC)).isoformat() if start_at else ""
    optional = {
        "gpu_type": gpu_type,
        "queue": queue,
        "fallback_gpu_types": fallback_gpu,
        "start_time": start_time,
        "disk": disk,
        "image": image,
        **flags,
    }
    given = {field: value for field, value in optional.items() if value}
    return {"hours": hours, "gpu_count": gpus or 1, **given}


def show_quote(client: ReservationClient, wanted: Mapping[str, Any], max_price: float | None = None) -> None:
    """Says what it would cost, or what is free if there is no such GPU type or not so many GPUs.

    Raises InputError in that case, and if a GPU may cost more than `max_price` dollars per hour.
    """
    try:
        quote = client.quote(wanted)
    except InputError as refusal:
        if not {"gpu_type", "gpu_count"}.isdisjoint(refusal.fields):
            with suppress(WavepoolError):
                say(free_text(client.availability()))
        raise
    say(quote_text(quote))
    price = dearest_price(quote)
    if max_price is not None and price > max_price:
        raise InputError(
            f"--max-price: is {usd_text(max_price)}, and a GPU may cost {usd_text(price)}/h; nothing is reserved. "
            "Give more, or another GPU type: `wavepool avail` has their prices"
        )


def uploaded(client: ReservationClient, content: bytes, *, preserve_entrypoint: bool = False) -> dict[str, Any]:
    """The fields of a reservation whose image is built, which its quote does not have; stores what it is built from."""
    if not content:
        return {}
    say(f"sending the Dockerfile and its folder: {max(1, len(content) >> 10)} KiB, compressed")
    started = {"preserve_entrypoint": True} if preserve_entrypoint else {}
    return {"build_digest": client.upload(content), **started}


def start(
    client: ReservationClient,
    wanted: Mapping[str, Any],
    name: str,
    keys: Keys,
    idempotency_key: str = "",
    *,
    only_these_keys: bool = False,
    verbose: bool = False,
    add_user: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Makes a reservation, and says its id and state. Keys that Wavepool knows of the caller may log in, too.

    `add_user` has others who may, as `people_of` reads them.
    """
    added = [person for text in add_user or () for person in people_of(text)]
    others = {"add_users": added} if added else {}
    named = {"name": name} if name else {}
    lines = [{"public_key": line} for line in keys.lines]
    own = {} if only_these_keys else {"own_keys": True}
    made = client.reserve({**wanted, **named, "keys": lines, **own, **others}, idempotency_key)
    _tell_found(made, verbose=verbose)
    reservation_id = str(made["id"])
    if keys.identity is not None:
        remember_identity(reservation_id, keys.identity)
    say(f"{reservation_id} ({made.get('name')}) is {made.get('state')}")
    return made


def _tell_found(made: dict[str, Any], *, verbose: bool) -> None:
    """Says what Wavepool has to say about keys that it found."""
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


def tell_keys(keys: Keys) -> None:
    """Says which keys may log in; raises InputError if there are none."""
    if not keys.lines:
        raise InputError("no key may log in; give --key")
    for line in keys.lines:
        kind, _, rest = line.partition(" ")
        say(f"key from {keys.source}: {kind} {rest.partition(' ')[2] or '(no comment)'}")
