"""`wavepool up` and `wavepool down`."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cli.local.checkup import EXECUTOR, check_settings, setting_warnings
from cli.local.data_folder import claimed, connection, holder, rotate_logs
from cli.local.generated_code import REMEDY, stale_protos
from cli.local.program import StartError
from cli.local.stack import Ports, Stack
from cli.local.supervisor import running
from hipcpu import toolchain
from wavepool_client.commands.disk import save
from wavepool_client.commands.options import DataDirOption
from wavepool_client.errors import InputError, UnreachableError, WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import DEFAULT_DATA_DIR, TOKEN_FILE
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.terminal.output import notes, say

if TYPE_CHECKING:
    from cli.local.supervisor import Supervisor

READY_SECONDS = 60.0
GRACE_SECONDS = 15.0
POLL_SECONDS = 0.1
ROTATE_SECONDS = 60.0
LINK_SECONDS = 86_400.0
"""How long the link to the page works, if it is not used before."""
KEEP_RESERVED = frozenset({"docker", "dstack"})
"""Providers whose machines go on without vmpool if they have reservations."""


def up(
    *,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The gateway's port. Default: 8080.")] = None,
    free_ports: Annotated[bool, typer.Option("--free-ports", help="Use free ports for all services.")] = False,
) -> None:
    """Start Wavepool on this machine and keep it running until Ctrl-C.

    Starts billing, vmpool, scheduler and gateway on loopback; vmpool starts executors when jobs need them. A process
    that dies is started again.
    """
    if stale := stale_protos():
        raise UnreachableError(f"the code made from {', '.join(stale)} is out of date: {REMEDY}")
    for warning in setting_warnings():
        notes.print(warning)
    # Only the executor starts later, when a job waits for it.
    executor = check_settings(EXECUTOR)
    if executor.fault:
        raise InputError(executor.fault)
    if {"--device", "cpu"} <= {*executor.options} and (missing := toolchain.missing()):
        say(f"reservations can start, kernels not yet: {missing}, or the first submission waits for it (1 to 3 min)")
    ports = Ports.free(port) if free_ports else Ports.usual(port)
    stack = Stack(data_dir.resolve(), ports)
    with claimed(data_dir, stack.endpoint):
        ports.check()
        rotate_logs(stack.logs)
        try:
            asyncio.run(_serve(stack))
        except StartError as error:
            raise UnreachableError(str(error)) from error
    say("stopped")


async def _serve(stack: Stack) -> None:
    stop, ready = asyncio.Event(), asyncio.Event()
    async with running(stack.programs(), say, GRACE_SECONDS) as supervisor:
        _on_signals(stop, supervisor)
        stopped, failed = asyncio.create_task(stop.wait()), asyncio.create_task(_run(stack, supervisor, ready))
        rotating = asyncio.create_task(_rotate(stack.logs))
        done, pending = await asyncio.wait([stopped, failed, rotating], return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        for task in done:
            task.result()
        say("stopping (Ctrl-C again kills)")
        if ready.is_set():
            await asyncio.to_thread(_save_disks, stack.data_dir)


async def _run(stack: Stack, supervisor: Supervisor, ready: asyncio.Event) -> None:
    say(f"starting; logs are in {stack.logs}")
    await supervisor.wait_until_ready(READY_SECONDS)
    await asyncio.to_thread(_announce, stack, supervisor)
    ready.set()
    await supervisor.wait()


async def _rotate(logs: Path) -> None:
    while True:
        await asyncio.sleep(ROTATE_SECONDS)
        # A full disk keeps nobody from working on.
        with suppress(OSError):
            await asyncio.to_thread(rotate_logs, logs)


def _on_signals(stop: asyncio.Event, supervisor: Supervisor) -> None:
    def handle() -> None:
        if stop.is_set():
            supervisor.hurry()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, handle)


def _announce(stack: Stack, supervisor: Supervisor) -> None:
    table = Table("process", "ready at", "pid", "log", box=None, pad_edge=False)
    for program in reversed(stack.programs()):
        table.add_row(program.name, program.address, str(supervisor.process_id(program.name)), program.log.name)
    table.add_row("executor", "started by vmpool when a job needs it", "", "")
    notes.print(table)
    say(f"\nopen    {_page(stack)}")
    command = command_for(stack.data_dir)
    say(f"submit  {command} submit problems/catalogue/leaky-relu/solution.hip --problem leaky-relu")
    say(f"stop    Ctrl-C, or {command} down")


def _page(stack: Stack) -> str:
    """The page's address, with what signs its first visitor in: not the token, as an address is copied and kept."""
    made = {"name": "page of wavepool up", "link": True, "lifetime_seconds": LINK_SECONDS}
    try:
        with GatewayClient(*connection(stack.data_dir)) as gateway:
            link = gateway.ask("POST", "tokens", body=made)["token"]
    except (OSError, WavepoolError) as error:
        notes.print(f"no link for the page, enter the token in {stack.data_dir / TOKEN_FILE}: {error}")
        return f"{stack.endpoint}/"
    return f"{stack.endpoint}/#link={link}  (works once)"


def command_for(data_dir: Path) -> str:
    """The command to type in this folder instead of `wavepool` for the Wavepool of that data folder."""
    ours, found = Path(sys.executable).with_name("wavepool"), shutil.which("wavepool")
    # What is found may be the command of sessions (deploy/setup-sessions), which runs no services.
    command = "wavepool" if found and ours.exists() and ours.samefile(found) else shlex.quote(str(ours))
    if data_dir == DEFAULT_DATA_DIR.resolve():
        return command
    return f"WAVEPOOL_DATA_DIR={shlex.quote(str(data_dir))} {command}"


def down(
    *,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask for confirmation, even if reservations end.")
    ] = False,
) -> None:
    """Stop the Wavepool of `wavepool up` on a data folder, and wait until it has ended.

    Reservations on local machines end, after their disks are saved. Rented machines with reservations continue.
    """
    process_id = holder(data_dir)
    if process_id is None:
        say(f"nothing runs on {data_dir}")
        return
    _show_fate_of_reservations(data_dir, ask=not yes)
    _save_disks(data_dir)
    os.kill(process_id, signal.SIGTERM)
    deadline = time.monotonic() + 4 * GRACE_SECONDS
    while holder(data_dir) is not None:
        if time.monotonic() > deadline:
            notes.print(f"process {process_id} did not stop")
            raise typer.Exit(ExitCode.UNAVAILABLE)
        time.sleep(POLL_SECONDS)
    say("stopped")


def _save_disks(data_dir: Path) -> None:
    """Saves the disks that reservations have: machines that are stopped with everything have no time for it."""
    try:
        endpoint, token = connection(data_dir)
        with GatewayClient(endpoint, token) as gateway:
            for disk in gateway.ask("GET", "disks", user_id="all")["disks"]:
                if disk.get("state") == "in_use":
                    _save_disk(gateway, disk)
    except (OSError, WavepoolError) as error:
        # As below.
        say(f"cannot ask for the disks: {error}")


def _save_disk(gateway: GatewayClient, disk: dict[str, Any]) -> None:
    name = str(disk["name"])
    try:
        save(gateway, name, str(disk.get("owner_id")))
    except WavepoolError as error:
        say(f"disk {name} of {disk.get('owner')} is not saved: {error}")
    else:
        say(f"disk {name} of {disk.get('owner')} is saved")


def _show_fate_of_reservations(data_dir: Path, *, ask: bool) -> None:
    """Shows which reservations continue and which end.

    With `ask` it asks before any ends, and raises InputError without a terminal.
    """
    try:
        endpoint, token = connection(data_dir)
        with GatewayClient(endpoint, token) as gateway:
            machines = gateway.ask("GET", "machines")["machines"]
    except (OSError, WavepoolError) as error:
        # A Wavepool that does not answer must still be stoppable.
        say(f"cannot ask for the reservations: {error}")
        return
    ending, staying = list[str](), list[str]()
    for machine in machines:
        fate = staying if machine["provider"] in KEEP_RESERVED else ending
        fate += [f"{reservation_id} on {machine['id']}" for reservation_id in machine.get("reservation_ids", ())]
    if staying:
        say(f"these reservations continue, and their machines stay rented: {', '.join(staying)}")
        say("the next `wavepool up` on this data folder resumes them; until then, their machines are not released")
    if not ending:
        return
    said = f"these reservations end with Wavepool: {', '.join(ending)}"
    if not ask:
        say(said)
        return
    if not sys.stdin.isatty():
        raise InputError(f"{said}; give --yes to stop anyway")
    say(said)
    typer.confirm("Stop it?", abort=True, err=True)
