"""`wavepool run`: reserves GPUs, runs one command there, and gives them back."""

from __future__ import annotations

import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from wavepool_client.commands.passed_on import PASSED_ON
from wavepool_client.commands.reservation_options import ReservationOptions, with_reservation_options
from wavepool_client.commands.reservation_start import show_quote, show_until_active, start
from wavepool_client.errors import InputError, UnreachableError, WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.ssh.remote import CONNECTION_FAILED, Remote, copied, line_of, remote_of
from wavepool_client.terminal.output import say
from wavepool_client.text.counts import counted
from wavepool_client.text.reservations import host_name

LONGEST_SLEEP_SECONDS = 30.0
"""By so much a command may start late on a computer that was asleep."""
END_SECONDS = 10.0
"""Time for a command that is interrupted, before it is killed."""


@with_reservation_options
def run(
    context: typer.Context,
    *,
    options: ReservationOptions,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Folder to copy there with rsync. The command runs in the copy, and its results are copied back.",
        ),
    ] = None,
    no_pull: Annotated[bool, typer.Option("--no-pull", help="Copy nothing back.")] = False,
    keep_alive: Annotated[
        bool, typer.Option("--keep-alive", help="Keep the reservation when the command ends.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="MINUTES",
            min=0,
            help="Cancel the reservation if it is not active by then, counted from --start.",
        ),
    ] = 1440.0,
    hours: Annotated[
        float, typer.Option("--hours", "-h", help="Longest time for the command. Only used time is charged.")
    ] = 1.0,
) -> None:
    """Reserve GPUs, run the command after `--` there, and give them back. Exits with the command's status."""
    words: list[str] = context.meta[PASSED_ON]
    if not words:
        raise InputError("the command is missing: give it after `--`, such as wavepool run -- python train.py")
    keys, content = options.keys(), options.build_context()
    with _interrupts(), ReservationClient(options.endpoint, options.token) as client:
        wanted = options.wanted(hours)
        show_quote(client, wanted, options.max_price)
        made = start(client, wanted, options, keys, content)
        reservation_id = str(made["id"])
        with _given_back(client, reservation_id, keep_alive=keep_alive):
            try:
                within = timeout * 60 + _seconds_until(wanted.get("start_time"))
                show_until_active(client, reservation_id, within, trace=options.trace)
            except TimeoutError:
                say(f"{reservation_id} is not active after {counted(timeout, 'minute')}")
                raise typer.Exit(ExitCode.UNAVAILABLE) from None
            # People may log in before a later start, but whoever names a time means it.
            while left := _seconds_until(wanted.get("start_time")):
                time.sleep(min(left, LONGEST_SLEEP_SECONDS))
            remote = remote_of(client.reservation(reservation_id), client.connection)
            status = _run_there(remote, line_of(words), directory, pull=not no_pull)
            if status and not _is_still_there(client, reservation_id) and status == CONNECTION_FAILED:
                status = ExitCode.UNAVAILABLE
    raise typer.Exit(status)


def _seconds_until(start_time: str | None) -> float:
    """How long it is until a time in the form of ISO 8601; 0 if there is none, or it is over."""
    if start_time is None:
        return 0.0
    return max(0.0, (datetime.fromisoformat(start_time) - datetime.now(UTC)).total_seconds())


def _run_there(remote: Remote, line: str, directory: Path | None, *, pull: bool) -> int:
    """Copies the folder, runs the line, copies back; returns the line's exit status, or that of a copy that failed."""
    folder = ""
    if directory is not None:
        folder = _make_folder(remote)
        say(f"copying {directory} to {remote.host}:{folder}")
        if not copied(remote.upload([f"{directory}/"], f"{folder}/")):
            say("the folder was copied only in part; the command was not started")
            return ExitCode.UNAVAILABLE
    status = _watch(remote, line, folder)
    if directory is None or not pull or status == CONNECTION_FAILED:
        return status
    say(f"copying {remote.host}:{folder} back to {directory}")
    if not copied(remote.download(f"{folder}/", f"{directory}/")):
        say("the results were copied back only in part")
        return status or ExitCode.UNAVAILABLE
    return status


def _make_folder(remote: Remote) -> str:
    """Makes the folder of this run, and returns its path there. Raises UnreachableError."""
    name = f"submit-{remote.host.removeprefix('wp-')}"
    line = f'top=$HOME; [ -w /workspace ] && top=/workspace; mkdir -p "$top/{name}" && cd "$top/{name}" && pwd'
    done = remote.output(line)
    if done.returncode:
        raise UnreachableError(f"cannot make a folder in the session: {done.stderr.strip()}")
    return done.stdout.strip().splitlines()[-1]


def _watch(remote: Remote, line: str, folder: str) -> int:
    """Runs a line there with its output here, and returns its exit status; Ctrl-C ends it."""
    pid_file = f"/tmp/wavepool-run-{secrets.token_hex(8)}"  # noqa: S108 - the session's own
    there = [
        f"cd {shlex.quote(folder)}" if folder else "cd",
        # Programs that write to no terminal hold their output back.
        f'export PYTHONUNBUFFERED=1; echo $$ >{pid_file}; exec "$SHELL" -lc {shlex.quote(line)}',
    ]
    # A terminal would send Ctrl-C to ssh, too, which would leave the command there.
    stdin = subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None
    process = subprocess.Popen(  # noqa: S603 - OpenSSH's own
        remote.command(" && ".join(there)), stdin=stdin, env=remote.environment, start_new_session=True
    )
    try:
        return process.wait()
    except KeyboardInterrupt:
        say("ending the command")
        with suppress(KeyboardInterrupt):
            _end(remote, process, pid_file)
        raise
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _end(remote: Remote, process: subprocess.Popen[bytes], pid_file: str) -> None:
    """Interrupts a command as Ctrl-C would; if that does not end it, kills it."""
    # sshd makes each command the leader of a process group.
    for name in ("INT", "KILL"):
        remote.output(f"kill -s {name} -- -$(cat {pid_file})")
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
            return


def _is_still_there(client: ReservationClient, reservation_id: str) -> bool:
    """False, and says so, if the reservation ended while the command ran."""
    now: dict[str, Any] = client.reservation(reservation_id)
    if now.get("state") == "active":
        return True
    why = str(now.get("message") or "")
    say(f"the reservation ended while the command ran: it is {now.get('state')}{f' ({why})' if why else ''}")
    if now.get("state") in {"expiring", "expired"}:
        say("give more --hours: the reservation ended with them")
    return False


@contextmanager
def _given_back(client: ReservationClient, reservation_id: str, *, keep_alive: bool) -> Generator[None]:
    """Cancels the reservation at the end, however it comes; Ctrl-C becomes the exit status."""
    keeps = False
    try:
        yield
        keeps = keep_alive
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        if keeps:
            say(f"{reservation_id} is kept: wavepool connect {host_name(reservation_id)}")
            say(f"cancel it with: wavepool cancel {reservation_id}")
        else:
            _cancel(client, reservation_id)


def _cancel(client: ReservationClient, reservation_id: str) -> None:
    try:
        client.cancel(reservation_id)
    except WavepoolError as error:
        say(f"{reservation_id} could not be cancelled ({error}); try: wavepool cancel {reservation_id}")
    else:
        say(f"cancelled {reservation_id}")


@contextmanager
def _interrupts() -> Generator[None]:
    """Takes the end of the terminal and `kill` as Ctrl-C, so that the GPUs are given back then, too."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
