"""`wavepool core`, `certify` and `problems lint`, which call the core's own command line."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence

import typer

from wavepool_client.commands import catalogue
from wavepool_client.exit_codes import ExitCode

_SIGNALLED = 128
COMMANDS = {
    "bench": "Compile, check and benchmark a kernel on this machine.",
    "check": "Find wrong accesses to memory and data races in kernels, by block, thread and line. No GPU is needed.",
    "isa": "Show the MI300X compiler's report on a kernel: registers, LDS, occupancy, hints. No GPU is needed.",
    "record": "Show the device operations of a kernel's host code. No GPU is needed.",
    "compare": "Show which of two results is faster: FASTER, SLOWER, SAME, or UNCLEAR.",
    "profile": "Check a source, and show the time of each of its kernels from the device's profiler.",
}
CERTIFY = "Measure what works on this machine, and write a JSON file and a page."
AS_GIVEN = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
"""Settings that pass all words on to the core, even `--help`, so that its options are defined only there."""


def add_to(app: typer.Typer, panel: str) -> None:
    """Adds `core` with its commands and `certify` to a panel of the help, and `problems lint`."""
    group = typer.Typer(help="Compile, check and benchmark without services, queue or account.")
    for name, explanation in COMMANDS.items():
        _pass_on(group, name, explanation)
    app.add_typer(group, name="core", rich_help_panel=panel)
    _pass_on(app, "certify", CERTIFY, panel)
    catalogue.app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(lint)


def _pass_on(app: typer.Typer, name: str, explanation: str, panel: str | None = None) -> None:
    @app.command(name, help=explanation, context_settings=AS_GIVEN, add_help_option=False, rich_help_panel=panel)
    def run(context: typer.Context) -> None:
        core = [sys.executable, "-m", "services.executor.core", name, *context.args]
        raise typer.Exit(_status_of(core))


def _status_of(command: Sequence[str]) -> int:
    """Runs a command and gives its exit status, like a shell. Ctrl-C goes only to the command, which may clean up."""
    # Not SIG_IGN, because the command would inherit that.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - our own program
    finally:
        signal.signal(signal.SIGINT, before)
    return status if status >= 0 else _SIGNALLED - status


def lint(context: typer.Context) -> None:
    """Check problem folders, and prove them with kernels: the solution passes, lazy ones fail.

    Takes slugs; checks all problems if there are none. Needs no running Wavepool.
    """
    worst = 0
    for words in (("problems.library.lint",), ("services.executor.core", "lint")):
        command = [sys.executable, "-m", *words, *context.args]
        status = _status_of(command)
        worst = max(worst, status)
        if status == ExitCode.USAGE or status > _SIGNALLED:
            break
    raise typer.Exit(worst)
