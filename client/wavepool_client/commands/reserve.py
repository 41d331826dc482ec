"""`wavepool reserve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from wavepool_client.build_context import build_context_of
from wavepool_client.commands.completion import complete_disk, complete_gpu_type, complete_queue
from wavepool_client.commands.connect import connect_to
from wavepool_client.commands.options import (
    EndpointOption,  # noqa: TC001 - typer reads annotations at run time
    JsonOption,  # noqa: TC001
    TokenOption,  # noqa: TC001
)
from wavepool_client.commands.reservation_lookup import is_on_terminal
from wavepool_client.commands.reservation_pickers import agree, ask_disk, ask_what_to_reserve
from wavepool_client.commands.reservation_start import (
    AddUserOption,
    MaxPriceOption,
    TraceOption,
    show_quote,
    show_until_active,
    start,
    tell_keys,
    uploaded,
    wanted_fields,
)
from wavepool_client.errors import InputError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.profiles import setting
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.ssh.config_files import write_configs
from wavepool_client.ssh.keys import keys_for
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.text.reservations import start_text

NO_DISK = "none"
FallbackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fallback-gpu",
        metavar="TYPE",
        autocompletion=complete_gpu_type,
        help="A GPU that will do where none of --gpu-type is free; give it again for more, the best first.",
    ),
]


GpusOption = Annotated[
    int | None,
    typer.Option(
        "--gpus",
        "-g",
        metavar="1|2|4|8",
        help="GPUs of one machine; asked for on a terminal, else 1. With --distributed 16, 24, 32, 40 or 48.",
    ),
]
DistributedOption = Annotated[
    bool, typer.Option("--distributed", "-d", help="Whole machines of 8 GPUs, several at once, all or none.")
]
SlowLinksOption = Annotated[
    bool, typer.Option("--allow-slow-links", help="With --distributed: whatever links there are between them will do.")
]


def _gpu_type(given: str) -> str:
    return given or setting("default_gpu_type")


GpuTypeOption = Annotated[
    str,
    typer.Option(
        "--gpu-type",
        "-t",
        metavar="TYPE",
        autocompletion=complete_gpu_type,
        callback=_gpu_type,
        help="In any case; default: that of `wavepool config show`; else asked for on a terminal, or the operator's.",
    ),
]
NameOption = Annotated[
    str, typer.Option("--name", "-n", help="Lower case letters, digits and hyphens; default: one is made.")
]
QueueOption = Annotated[
    str, typer.Option("--queue", autocompletion=complete_queue, help="The queue to wait in; default: `default`.")
]
DiskOption = Annotated[
    str,
    typer.Option(
        "--disk",
        metavar="NAME|none",
        autocompletion=complete_disk,
        help="The disk that is the home; default: `none`, a home that is removed at the end.",
    ),
]
ImageOption = Annotated[
    str,
    typer.Option(
        "--image",
        metavar="HOST[:PORT]/NAME[:TAG]",
        help="A container image whose files are the root; default: the machine's own.",
    ),
]
DockerfileOption = Annotated[
    Path | None,
    typer.Option(
        "--dockerfile",
        metavar="PATH",
        help="Build the image from this Dockerfile and its folder, at most 8 MiB compressed; not with --image.",
    ),
]
EntrypointOption = Annotated[
    bool,
    typer.Option(
        "--preserve-entrypoint",
        help="Start the image's own ENTRYPOINT and CMD, too; their output is in /workspace/entrypoint.log.",
    ),
]
StartOption = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="TIME",
        help="Later: 09:30 (the next), 'tomorrow 09:30', +2h, '2026-11-28 09:30', or with a zone; else local time.",
    ),
]
KeyOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="A public key that may log in; default: those in ~/.ssh, of the agent, and of your user.",
    ),
]


def reserve(  # noqa: PLR0913 - an argument for each option
    *,
    hours: Annotated[
        float | None,
        typer.Option("--hours", "-h", help="Decimals are taken: 0.5 is half an hour. Asked for on a terminal."),
    ] = None,
    gpus: GpusOption = None,
    gpu_type: GpuTypeOption = "",
    distributed: DistributedOption = False,
    allow_slow_links: SlowLinksOption = False,
    start_at: StartOption = "",
    name: NameOption = "",
    queue: QueueOption = "",
    fallback_gpu: FallbackOption = None,
    disk: DiskOption = "",
    no_persist: Annotated[bool, typer.Option("--no-persist", help="The same as --disk none.")] = False,
    image: ImageOption = "",
    dockerfile: DockerfileOption = None,
    preserve_entrypoint: EntrypointOption = False,
    key: KeyOption = None,
    add_user: AddUserOption = None,
    max_price: MaxPriceOption = None,
    interactive: Annotated[
        bool | None,
        typer.Option(
            "--interactive/--no-interactive",
            help="Ask for GPU type, number and hours that are not given, and then for the disk; "
            "default: on a terminal, without --json.",
        ),
    ] = None,
    wait: Annotated[
        bool | None,
        typer.Option("--wait/--no-wait", help="Wait until you can log in, or print the id; default: not with --start."),
    ] = None,
    no_connect: Annotated[bool, typer.Option("--no-connect", help="Do not connect once it is active.")] = False,
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", help="A repeated key gives the same reservation.")
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say which keys may log in.")] = False,
    trace: TraceOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reserve GPUs for some hours, wait for them, and connect by SSH."""
    asks = (is_on_terminal() and not as_json) if interactive is None else interactive
    asks = asks and (hours is None or gpus is None or not gpu_type)
    keys, content = keys_for(key or ()), build_context_of(dockerfile, image)
    with ReservationClient(endpoint, token) as client:
        if asks:
            gpu_type, gpus, hours = ask_what_to_reserve(client, gpu_type, gpus, hours, distributed=distributed)
            disk = disk if disk or no_persist else ask_disk(endpoint, token)
        if hours is None:
            raise InputError("--hours is missing: say how long, such as --hours 0.5")
        wanted = wanted_fields(
            hours,
            gpus,
            gpu_type,
            queue,
            fallback_gpu,
            start_at,
            disk_of(disk, no_persist=no_persist),
            image,
            preserve_entrypoint=preserve_entrypoint and not content,
            distributed=distributed,
            allow_slow_links=allow_slow_links,
        )
        show_quote(client, wanted, max_price)
        if asks:
            agree()
        if verbose or trace:
            tell_keys(keys)
        made = start(
            client,
            wanted | uploaded(client, content, preserve_entrypoint=preserve_entrypoint),
            name,
            keys,
            idempotency_key,
            only_these_keys=bool(key),
            verbose=verbose or trace,
            add_user=add_user,
        )
        reservation_id = str(made["id"])
        if not (not start_at if wait is None else wait):
            _tell(made, as_json=as_json)
            return
        _wait_until_active(client, reservation_id, trace=trace)
        active = client.reservation(reservation_id)
        write_configs([active], client.connection)
        if as_json or no_connect or not (is_on_terminal() and sys.stdout.isatty()):
            _tell(active, as_json=as_json)
            if not as_json:
                say(f"connect with: wavepool connect {reservation_id}")
            return
        connection = client.connection
    raise typer.Exit(connect_to(active, connection, token=token))


def disk_of(disk: str, *, no_persist: bool = False) -> str:
    """The disk that is asked for; empty for none. Raises InputError."""
    is_none = disk.casefold() in {"", NO_DISK}
    if no_persist and not is_none:
        raise InputError(f"--no-persist and --disk {disk} contradict each other; leave one out")
    return "" if is_none else disk


def _tell(reservation: dict[str, Any], *, as_json: bool) -> None:
    print_json(reservation) if as_json else results.print(str(reservation["id"]))
    if start := start_text(reservation):
        say(f"it starts at {start}; follow it with: wavepool reservations show {reservation['id']} -f")


def _wait_until_active(client: ReservationClient, reservation_id: str, *, trace: bool) -> None:
    """Waits; if somebody presses Ctrl-C, cancels the reservation if they want it, else leaves it waiting."""
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
