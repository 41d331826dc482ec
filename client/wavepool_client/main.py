"""The `wavepool` command: adds its subcommands, and sets its exit status.

A subcommand is imported when it is used, or when all are listed, so that `connect` is quick whatever the others need.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wavepool_client.commands.completion import complete_profile
from wavepool_client.commands.options import examples
from wavepool_client.commands.passed_on import PassesOn, Reserves, ReservesAndPassesOn
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.exit_codes import EXPLANATION
from wavepool_client.http.connection import PLUG_INS
from wavepool_client.terminal.output import say


@dataclass(frozen=True)
class Entry:
    """Where a command or a group is, and how its help ends."""

    place: str
    """Module of wavepool_client.commands, and name there."""
    lines: tuple[str, ...] = ()
    """Examples."""
    explains_status: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Imports the command, and adds it to `app`."""
        module, _, attribute = self.place.partition(".")
        found = getattr(importlib.import_module(f"wavepool_client.commands.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
            return
        parts = [examples(*self.lines)] if self.lines else []
        parts += [EXPLANATION] if self.explains_status else []
        app.command(name, epilog="\n\n".join(parts) or None, **self.settings)(found)


# `-h` is short for --hours there.
_RESERVES = {"cls": Reserves, "context_settings": {"help_option_names": ["--help"]}}

PANELS: dict[str, dict[str, Entry]] = {
    "Submissions": {
        "submit": Entry(
            "submissions.submit",
            (
                "wavepool submit relu.hip --problem relu",
                "wavepool submit relu.hip -p relu --mode check --json | jq .status",
                "wavepool submit relu.hip -p relu --mode benchmark --timing first-call",
                "wavepool submit relu.hip -p relu --fallback-gpu MI250X --fallback-gpu MI210",
                "wavepool submit tool.hip --mode sandbox",
                "wavepool submit relu.hip -p relu --gpus 4 --dry-run",
            ),
            explains_status=True,
        ),
        "resubmit": Entry(
            "submissions.resubmit",
            ("wavepool resubmit job_01J…", "wavepool resubmit job_01J… --mode benchmark --gpu MI300X"),
            explains_status=True,
        ),
        "jobs": Entry("submissions.jobs"),
        "watch": Entry("submissions.watch", ("wavepool watch job_01J…", "wavepool watch job_01J… --json --after 4")),
        "show": Entry("submissions.show"),
        "share": Entry("sharing.share", ("wavepool share job_01J…", "wavepool share job_01J… --public")),
        "rename": Entry("sharing.rename", ("wavepool rename job_01J… 'tiled, 64 x 64'",)),
        "cancel": Entry(
            "cancel.cancel",
            ("wavepool cancel job_01J…", "wavepool cancel res_01J… training", "wavepool cancel --jobs --pending"),
        ),
        "why": Entry("queues.why", ("wavepool why job_01J…", "wavepool why job_01J… --json | jq .reason")),
        "problems": Entry("catalogue.app"),
        "leaderboard": Entry(
            "rankings.leaderboard",
            ("wavepool leaderboard relu", "wavepool leaderboard relu --gpu MI300X --timing hot --json"),
        ),
        "compare": Entry(
            "rankings.compare", ("wavepool compare job_01J… job_01K…", "wavepool compare job_01J… job_01K… --json")
        ),
        "isa": Entry("reports.isa", ("wavepool isa job_01J…", "wavepool isa job_01J… --json | jq -r .listing")),
        "samples": Entry(
            "reports.samples", ("wavepool samples job_01J…", "wavepool samples job_01J… --test 2 --csv > samples.csv")
        ),
        "report": Entry("reports.report", ("wavepool report job_01J… -o result.json",)),
        "verify": Entry(
            "reports.verify_report",
            ("wavepool verify result.json", "wavepool verify result.json --key HEX --source relu.hip"),
        ),
    },
    "Reservations": {
        "reserve": Entry(
            "reserve.reserve",
            (
                "wavepool reserve --hours 0.5",
                "wavepool reserve -g 8 -t MI300X -h 4 -n training",
                "wavepool reserve -h 2 --no-connect --json | jq -r .id",
            ),
            explains_status=True,
            settings=_RESERVES,
        ),
        "connect": Entry(
            "connect.connect",
            (
                "wavepool connect",
                "wavepool connect training -- rocm-smi",
                "wavepool connect 01KB9X2F -- -L 8888:localhost:8888 -N",
                "wavepool connect --print",
            ),
            settings={"cls": PassesOn},
        ),
        "run": Entry(
            "run.run",
            (
                "wavepool run -- rocm-smi",
                "wavepool run -g 8 -t MI300X -h 4 --dir . -- python train.py --epochs 3",
                "wavepool run --dir . --keep-alive -- 'make && ./bench | tee result.txt'",
            ),
            settings={**_RESERVES, "cls": ReservesAndPassesOn},
        ),
        "reservations": Entry("reservations.app"),
        "extend": Entry("reservations.extend", ("wavepool extend 1.5", "wavepool extend training 0.5")),
        "avail": Entry("reservations.avail", ("wavepool avail", "wavepool avail -t MI300X --watch")),
        "disk": Entry("disk.app"),
        "keys": Entry("keys.app"),
        "jupyter": Entry(
            "web_programs.jupyter", ("wavepool jupyter --install", "wavepool jupyter training --folder /workspace")
        ),
        "tensorboard": Entry(
            "web_programs.tensorboard",
            ("wavepool tensorboard --logdir runs", "wavepool tensorboard training --no-browser"),
        ),
        "forward": Entry(
            "web_programs.forward", ("wavepool forward 8000", "wavepool forward 8000 training --port 9000 --browser")
        ),
        "ssh-config": Entry("connect.ssh_config", ("wavepool ssh-config training >> ~/.ssh/config",)),
        "ssh-proxy": Entry("connect.ssh_proxy", settings={"hidden": True}),
    },
    "Money": {
        "costs": Entry(
            "money.costs",
            ("wavepool costs", "wavepool costs --report --from 2026-11-01", "wavepool costs --verify --json"),
        ),
        "quote": Entry(
            "prices.quote",
            (
                "wavepool quote",
                "wavepool quote --gpu MI300X --fallback-gpu MI210",
                "wavepool quote --seconds 426.83 --json",
            ),
        ),
        "prices": Entry("prices.app"),
        "statement": Entry(
            "money.statement",
            ("wavepool statement", "wavepool statement --month 2026-11 --format html -o november.html"),
        ),
        "grants": Entry("money.grants"),
        "budgets": Entry("money.budgets"),
        "projections": Entry(
            "projections.projections",
            (
                "wavepool projections",
                "wavepool projections --operator --json",
            ),
        ),
    },
    "Queues and metrics": {
        "status": Entry("reservation_status.status", ("wavepool status --json | jq .free_gpus",)),
        "queue-status": Entry("reservation_status.queue_status", ("wavepool queue-status -t MI300X",)),
        "limits": Entry("money.limits", ("wavepool limits", "wavepool limits --json | jq .remaining_submissions")),
        "queues": Entry("queues.app"),
        "metrics": Entry("metrics.app"),
        "alerts": Entry("alerts.app"),
        "audit": Entry("audit.audit", ("wavepool audit", "wavepool audit --user ann --since 2027-01-15T00:00Z --json")),
    },
    "Machines": {"machines": Entry("machines.app")},
    "Administration": {
        "users": Entry("identity.users"),
        "teams": Entry("identity.teams"),
        "tokens": Entry("identity.tokens"),
        "accounts": Entry("identity.accounts"),
        "notices": Entry("notices.notices", ("wavepool notices", "wavepool notices failed")),
    },
    "This machine": {
        "login": Entry(
            "sign_in.login",
            ("wavepool login --url https://wavepool.example", "wavepool login --no-browser"),
            explains_status=True,
        ),
        "logout": Entry("sign_in.logout", ("wavepool logout --url https://wavepool.example",)),
        "config": Entry("config.app"),
    },
}
"""All commands of the client by panel of the help, those that are used most first; plug-ins add others."""

EXTENDED = ("problems",)
"""The subcommands that have subcommands of plug-ins."""


class _Commands(TyperGroup):
    """All subcommands, of which only those are imported that are asked for."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as typer makes it
        super().__init__(**given)
        for one in self.params:
            _refuse_empty(one)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer has its own copy of click
        """The subcommand with this name; None if there is none."""
        if cmd_name in EXTENDED and cmd_name not in self.commands:
            self._add_all()
        for panel, entries in PANELS.items():
            if cmd_name in entries and cmd_name not in self.commands:
                self.commands[cmd_name] = _command(panel, cmd_name)
        if cmd_name not in self.commands:
            self._add_all()
        return self.commands.get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - as above
        """The names of all subcommands."""
        self._add_all()
        return list(self.commands)

    def _add_all(self) -> None:
        # Before the others: they add to some of them.
        added = commands_of(_plug_ins)
        # In the order of the table, whichever was used first.
        self.commands = {name: _command(panel, name) for panel, entries in PANELS.items() for name in entries} | added


app = typer.Typer(
    name="wavepool",
    cls=_Commands,
    help="Compile, check and benchmark AMD HIP kernels on pooled MI300X machines.",
    epilog=f"{examples('wavepool submit relu.hip --problem relu')}\n\n{EXPLANATION}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(*, value: bool) -> None:
    if value:
        sys.stdout.write(f"wavepool {version('wavepool-client')}\n")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *,
    profile: Annotated[
        str,
        typer.Option(
            envvar="WAVEPOOL_PROFILE",
            help="The profile to use: a gateway with a token, as in `wavepool config list`.",
            autocompletion=complete_profile,
        ),
    ] = "",
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    source = context.get_parameter_source("profile")
    if profile and source is not None and source.name == "COMMANDLINE":
        # Named on the command line, the profile comes before what the environment says.
        os.environ["WAVEPOOL_PROFILE"] = profile
        for name in ("WAVEPOOL_ENDPOINT", "WAVEPOOL_TOKEN"):
            os.environ.pop(name, None)


def _command(panel: str, name: str) -> Any:  # noqa: ANN401 - typer does not export the type
    """A command of the table, ready to be used."""
    command = commands_of(lambda app: PANELS[panel][name].add_to(app, name))[name]
    command.rich_help_panel = panel
    return command


def _plug_ins(app: typer.Typer) -> None:
    for installed in entry_points(group=PLUG_INS):
        installed.load()(app)


def commands_of(add: Callable[[typer.Typer], None]) -> dict[str, Any]:
    """The subcommands that `add` adds, by name."""
    some = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)
    add(some)
    found = dict(typer.main.get_group(some).commands)
    for command in found.values():
        _prepare(command)
    return found


def _prepare(command: Any) -> None:  # noqa: ANN401 - typer does not export the type
    """Has a command print its help as plain text, and refuse empty words and numbers that no request can have."""
    for one in command.params:
        _refuse_empty(one)
        one.callback = _finite(one.callback)
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            _prepare(below)
    else:
        # Panels cut the names of options in terminals of 80 columns.
        command.rich_markup_mode = None


def _refuse_empty(one: Any) -> None:  # noqa: ANN401 - as above
    """Has an option or argument refuse an empty word: a script's empty variable would be taken as one left out.

    Options whose help says what an empty word means take it.
    """
    if "empty: none" in (getattr(one, "help", None) or ""):
        return
    consume = one.consume_value

    def consume_given(context: Any, opts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
        given = opts.get(one.name)
        words: list[Any] = [*given] if isinstance(given, list | tuple) else [given]  # pyright: ignore[reportUnknownVariableType]
        if any(isinstance(word, str) and not word.strip() for word in words) and not context.resilient_parsing:
            name = max(one.opts, key=len) if one.param_type_name == "option" else one.metavar or one.name.upper()
            raise InputError(f"{name}: is empty; give what it needs, or leave it out")
        return consume(context, opts)

    one.consume_value = consume_given


def _finite(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """The check of an option before its own callback; raises InputError for `nan` and `inf`, which JSON lacks."""

    def check(context: Any, option: Any, value: Any) -> Any:  # noqa: ANN401 - as above
        if isinstance(value, float) and not math.isfinite(value) and not context.resilient_parsing:
            raise InputError(f"{max(option.opts, key=len)}: is {value}; give a finite number, such as 0.5")
        return callback(context, option, value) if callback else value

    return check


def main() -> None:
    """Runs the command and exits with its status."""
    try:
        app()
    except WavepoolError as error:
        say(f"wavepool: {error}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
