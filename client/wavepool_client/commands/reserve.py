"""`wavepool reserve`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from wavepool_client.commands.connect import connect_to
from wavepool_client.commands.options import JsonOption  # noqa: TC001 - typer reads annotations at run time
from wavepool_client.commands.reservation_options import ReservationOptions, with_reservation_options
from wavepool_client.commands.reservation_pickers import agree, ask_disk, ask_what_to_reserve
from wavepool_client.commands.reservation_start import show_quote, show_until_active, start
from wavepool_client.errors import InputError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.reservation_request import NO_DISK
from wavepool_client.ssh.config_files import write_configs
from wavepool_client.terminal.output import is_on_terminal, print_json, results, say
from wavepool_client.text.reservations import start_text


@with_reservation_options
def reserve(
    *,
    options: ReservationOptions,
    hours: Annotated[
        float | None,
        typer.Option("--hours", "-h", help="Hours, for example 0.5. Prompted for if omitted."),
    ] = None,
    no_persist: Annotated[bool, typer.Option("--no-persist", help="Same as --disk none.")] = False,
    interactive: Annotated[
        bool | None,
        typer.Option(
            "--interactive/--no-interactive",
            help="Prompt for GPU type, number, hours and disk if omitted. Default: on a terminal, without --json.",
        ),
    ] = None,
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait",
            help="Wait until you can log in, or only print the id. Default: wait, except with --start.",
        ),
    ] = None,
    no_connect: Annotated[bool, typer.Option("--no-connect", help="Do not connect when it is active.")] = False,
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", help="A repeated key returns the same reservation.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Reserve GPUs for some hours, wait for them, and connect by SSH."""
    asks = (is_on_terminal() and not as_json) if interactive is None else interactive
    asks = asks and (hours is None or options.gpus is None or not options.gpu_type)
    options = _without_disk(options) if no_persist else options
    keys, content = options.keys(), options.build_context()
    with ReservationClient(options.endpoint, options.token) as client:
        if asks:
            gpu_type, gpus, hours = ask_what_to_reserve(
                client, options.gpu_type, options.gpus, hours, distributed=options.distributed
            )
            disk = options.disk or ask_disk(client)
            options = replace(options, gpu_type=gpu_type, gpus=gpus, disk=disk)
        if hours is None:
            raise InputError("--hours is missing; for example --hours 0.5")
        wanted = options.wanted(hours)
        show_quote(client, wanted, options.max_price)
        if asks:
            agree()
        made = start(client, wanted, options, keys, content, idempotency_key)
        reservation_id = str(made["id"])
        if not (not options.start_at if wait is None else wait):
            _print(made, as_json=as_json)
            return
        _wait_until_active(client, reservation_id, trace=options.trace)
        active = client.reservation(reservation_id)
        write_configs([active], client.connection)
        if as_json or no_connect or not (is_on_terminal() and sys.stdout.isatty()):
            _print(active, as_json=as_json)
            if not as_json:
                say(f"connect with: wavepool connect {reservation_id}")
            return
        connection = client.connection
    raise typer.Exit(connect_to(active, connection, token=options.token))


def _without_disk(options: ReservationOptions) -> ReservationOptions:
    """The options for a home that is not kept; raises InputError if they name a disk."""
    if options.disk.casefold() not in {"", NO_DISK}:
        raise InputError(f"--no-persist and --disk {options.disk} contradict each other; leave one out")
    return replace(options, disk=NO_DISK)


def _print(reservation: dict[str, Any], *, as_json: bool) -> None:
    print_json(reservation) if as_json else results.print(str(reservation["id"]))
    if start := start_text(reservation):
        say(f"it starts at {start}; follow it with: wavepool reservations show {reservation['id']} -f")


def _wait_until_active(client: ReservationClient, reservation_id: str, *, trace: bool) -> None:
    """Waits; after Ctrl-C, asks whether to cancel the reservation or leave it waiting."""
    try:
        show_until_active(client, reservation_id, trace=trace)
    except KeyboardInterrupt:
        if is_on_terminal() and typer.confirm("\nCancel the reservation? Otherwise it keeps waiting.", err=True):
            client.cancel(reservation_id)
            say(f"cancelled {reservation_id}")
        else:
            say(f"it keeps waiting; follow it with: wavepool reservations show {reservation_id} -f")
            say(f"cancel it with: wavepool cancel {reservation_id}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
