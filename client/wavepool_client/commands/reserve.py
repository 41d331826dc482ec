"""`wavepool reserve`."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer resolves the annotation at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type, complete_queue
from wavepool_client.commands.connect import connect_to
from wavepool_client.commands.options import (
    EndpointOption,  # noqa: TC001 - typer reads annotations at run time
    JsonOption,  # noqa: TC001
    TokenOption,  # noqa: TC001
)
from wavepool_client.commands.reservation_lookup import is_on_terminal
from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.ssh.access import remember_identity
from wavepool_client.ssh.keys import keys_for
from wavepool_client.terminal.output import notes, print_json, results, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.text.reservations import added_key_texts, narrate_reservation, note_texts, quote_text

if TYPE_CHECKING:
    from wavepool_client.ssh.keys import Keys

ENDS = {"EXPIRED": ExitCode.NOT_ACCEPTED, "CANCELLED": ExitCode.NOT_ACCEPTED, "FAILED": ExitCode.UNAVAILABLE}
FallbackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fallback-gpu",
        metavar="TYPE",
        autocompletion=complete_gpu_type,
        help="A GPU that will do where none of --gpu-type is free; give it again for more, the best first.",
    ),
]


def reserve(  # noqa: PLR0913 - an argument for each option
    *,
    hours: Annotated[float, typer.Option("--hours", "-h", help="Decimals are taken: 0.5 is half an hour.")],
    gpus: Annotated[int, typer.Option("--gpus", "-g", metavar="1|2|4|8", help="GPUs of one machine.")] = 1,
    gpu_type: Annotated[
        str,
        typer.Option(
            "--gpu-type", "-t", metavar="TYPE", autocompletion=complete_gpu_type, help="Default: the operator's."
        ),
    ] = "",
    name: Annotated[
        str, typer.Option("--name", "-n", help="Lower case letters, digits and hyphens; default: one is made.")
    ] = "",
    queue: Annotated[
        str, typer.Option("--queue", autocompletion=complete_queue, help="The queue to wait in; default: `default`.")
    ] = "",
    fallback_gpu: FallbackOption = None,
    key: Annotated[
        list[Path] | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="A public key that may log in; default: those in ~/.ssh, of the agent, and of your user.",
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until you can log in, or print the id.")] = True,
    no_connect: Annotated[bool, typer.Option("--no-connect", help="Do not connect once it is active.")] = False,
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", help="A repeated key gives the same reservation.")
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say which keys may log in.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reserve GPUs for some hours, wait for them, and connect by SSH."""
    wanted: dict[str, Any] = {"hours": hours, "gpu_count": gpus}
    optional = {"gpu_type": gpu_type, "queue": queue, "fallback_gpu_types": fallback_gpu}
    wanted |= {field: value for field, value in optional.items() if value}
    keys = keys_for(key or ())
    with ReservationClient(endpoint, token) as client:
        say(quote_text(client.quote(wanted)))
        if verbose:
            _tell_keys(keys)
        named = {"name": name} if name else {}
        lines = [{"public_key": line} for line in keys.lines]
        # Keys that were chosen are the only ones.
        own = {} if key else {"own_keys": True}
        made = client.reserve({**wanted, **named, "keys": lines, **own}, idempotency_key)
        _tell_found(made, verbose=verbose)
        reservation_id = str(made["id"])
        if keys.identity is not None:
            remember_identity(reservation_id, keys.identity)
        say(f"{reservation_id} ({made.get('name')}) is {made.get('state')}")
        if not wait:
            print_json(made) if as_json else results.print(reservation_id)
            return
        _wait_until_active(client, reservation_id)
        active = client.reservation(reservation_id)
        if as_json:
            print_json(active)
            return
        if no_connect or not (is_on_terminal() and sys.stdout.isatty()):
            results.print(reservation_id)
            say(f"connect with: wavepool connect {reservation_id}")
            return
        connection = client.connection
    raise typer.Exit(connect_to(active, connection, token=token))


def _wait_until_active(client: ReservationClient, reservation_id: str) -> None:
    """Shows the steps until people can log in; leaves the command if it ends before, or if somebody presses Ctrl-C."""
    try:
        with shown_on(notes, "Waiting for GPUs", narrate_reservation) as show_event:
            for event in client.events(reservation_id):
                show_event(event)
                if event.status == "ACTIVE":
                    return
                if event.status in ENDS:
                    raise typer.Exit(ENDS[event.status])
    except KeyboardInterrupt:
        _interrupted(client, reservation_id)
    raise UnreachableError(f"the events of {reservation_id} ended before it was active")


def _interrupted(client: ReservationClient, reservation_id: str) -> None:
    """Cancels the reservation if the person wants it, else leaves it waiting; does not return."""
    if is_on_terminal() and typer.confirm("\nCancel the reservation? Otherwise it keeps waiting.", err=True):
        client.cancel(reservation_id)
        say(f"cancelled {reservation_id}")
    else:
        say(f"it keeps waiting; follow it with: wavepool reservations show {reservation_id} -f")
        say(f"cancel it with: wavepool cancel {reservation_id}")
    raise typer.Exit(ExitCode.INTERRUPTED)


def _tell_found(made: dict[str, Any], *, verbose: bool) -> None:
    """Says what Wavepool has to say about keys that it found."""
    for text in [*note_texts(made), *(added_key_texts(made, given=False) if verbose else ())]:
        say(text)


def _tell_keys(keys: Keys) -> None:
    if not keys.lines:
        raise InputError("no key may log in; give --key")
    for line in keys.lines:
        kind, _, rest = line.partition(" ")
        say(f"key from {keys.source}: {kind} {rest.partition(' ')[2] or '(no comment)'}")
