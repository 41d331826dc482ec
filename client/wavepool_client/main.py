"""The `wavepool` command: adds its subcommands, and sets its exit status.

A subcommand is imported when it is used, or when all are listed, so that `connect` is quick whatever the others need.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from importlib.metadata import entry_points, version
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from wavepool_client.commands.completion import complete_profile
from wavepool_client.commands.options import examples
from wavepool_client.commands.passed_on import PassesOn, Reserves, ReservesAndPassesOn
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.exit_codes import EXPLANATION
from wavepool_client.terminal.output import say

if TYPE_CHECKING:
    from collections.abc import Callable


EXTENDED = ("problems",)
"""The subcommands that have subcommands of plug-ins."""


class _Commands(TyperGroup):
    """All subcommands, of which only those are imported that are asked for."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer has its own copy of click
        """The subcommand with this name; None if there is none."""
        if cmd_name in EXTENDED and cmd_name not in self.commands:
            self._add_all()
        for names, add in PARTS:
            if cmd_name in names and cmd_name not in self.commands:
                self.commands.update(commands_of(add))
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
        found: dict[str, Any] = {}
        for _, add in PARTS:
            found |= commands_of(add)
        # In the order of the table, whichever was used first.
        self.commands = found | added


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
            help="The gateway and the token to use, as `wavepool config list` shows them.",
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


def _submissions(app: typer.Typer) -> None:
    from wavepool_client.commands import submissions

    app.command(
        epilog=examples(
            "wavepool submit relu.hip --problem relu",
            "wavepool submit relu.hip -p relu --mode check --json | jq .status",
            "wavepool submit relu.hip -p relu --mode benchmark --timing first-call",
            "wavepool submit relu.hip -p relu --fallback-gpu MI250X --fallback-gpu MI210",
            "wavepool submit tool.hip --mode sandbox",
        )
        + f"\n\n{EXPLANATION}"
    )(submissions.submit)
    app.command(epilog=examples("wavepool watch job_01J…", "wavepool watch job_01J… --json --after 4"))(
        submissions.watch
    )
    app.command()(submissions.show)
    app.command()(submissions.jobs)


def _cancel(app: typer.Typer) -> None:
    from wavepool_client.commands import cancel

    app.command(epilog=examples("wavepool cancel job_01J…", "wavepool cancel res_01J…", "wavepool cancel --yes"))(
        cancel.cancel
    )


def _reserve(app: typer.Typer) -> None:
    from wavepool_client.commands import reserve

    app.command(
        cls=Reserves,
        context_settings={"help_option_names": ["--help"]},
        epilog=examples(
            "wavepool reserve --hours 0.5",
            "wavepool reserve -g 8 -t MI300X -h 4 -n training",
            "wavepool reserve -h 2 --no-connect --json | jq -r .id",
        )
        + f"\n\n{EXPLANATION}",
    )(reserve.reserve)


def _run(app: typer.Typer) -> None:
    from wavepool_client.commands import run

    app.command(
        cls=ReservesAndPassesOn,
        context_settings={"help_option_names": ["--help"]},
        epilog=examples(
            "wavepool run -- rocm-smi",
            "wavepool run -g 8 -t MI300X -h 4 --dir . -- python train.py --epochs 3",
            "wavepool run --dir . --keep-alive -- 'make && ./bench | tee result.txt'",
        ),
    )(run.run)


def _reservations(app: typer.Typer) -> None:
    from wavepool_client.commands import reservations

    app.add_typer(reservations.app, name="reservations")
    app.command(epilog=examples("wavepool extend 1.5", "wavepool extend training 0.5"))(reservations.extend)
    app.command(epilog=examples("wavepool avail", "wavepool avail -t MI300X --watch"))(reservations.avail)


def _status(app: typer.Typer) -> None:
    from wavepool_client.commands import reservation_status

    app.command(epilog=examples("wavepool queue-status -t MI300X"))(reservation_status.queue_status)
    app.command(epilog=examples("wavepool status --json | jq .free_gpus"))(reservation_status.status)


def _connect(app: typer.Typer) -> None:
    from wavepool_client.commands import connect

    app.command(
        cls=PassesOn,
        epilog=examples(
            "wavepool connect",
            "wavepool connect training -- rocm-smi",
            "wavepool connect 01KB9X2F -- -L 8888:localhost:8888 -N",
            "wavepool connect --print",
        ),
    )(connect.connect)
    app.command(epilog=examples("wavepool ssh-config training >> ~/.ssh/config"))(connect.ssh_config)
    app.command(hidden=True)(connect.ssh_proxy)


def _web_programs(app: typer.Typer) -> None:
    from wavepool_client.commands import web_programs

    app.command(epilog=examples("wavepool forward 8000", "wavepool forward 8000 training --port 9000 --browser"))(
        web_programs.forward
    )
    app.command(epilog=examples("wavepool jupyter --install", "wavepool jupyter training --folder /workspace"))(
        web_programs.jupyter
    )
    app.command(epilog=examples("wavepool tensorboard --logdir runs", "wavepool tensorboard training --no-browser"))(
        web_programs.tensorboard
    )


def _reports(app: typer.Typer) -> None:
    from wavepool_client.commands import reports

    app.command(epilog=examples("wavepool isa job_01J…", "wavepool isa job_01J… --json | jq -r .listing"))(reports.isa)
    app.command(epilog=examples("wavepool report job_01J… -o result.json"))(reports.report)
    app.command(
        name="verify",
        epilog=examples("wavepool verify result.json", "wavepool verify result.json --key HEX --source relu.hip"),
    )(reports.verify_report)


def _money(app: typer.Typer) -> None:
    from wavepool_client.commands import money

    app.command(
        epilog=examples("wavepool costs", "wavepool costs --report --from 2026-11-01", "wavepool costs --verify --json")
    )(money.costs)
    app.command(epilog=examples("wavepool limits", "wavepool limits --json | jq .remaining_submissions"))(money.limits)
    app.command(
        epilog=examples("wavepool statement", "wavepool statement --month 2026-11 --format html -o november.html")
    )(money.statement)
    app.add_typer(money.grants, name="grants")
    app.add_typer(money.budgets, name="budgets")


def _rankings(app: typer.Typer) -> None:
    from wavepool_client.commands import rankings

    app.command(
        epilog=examples("wavepool leaderboard relu", "wavepool leaderboard relu --gpu MI300X --timing hot --json")
    )(rankings.leaderboard)
    app.command(epilog=examples("wavepool compare job_01J… job_01K…", "wavepool compare job_01J… job_01K… --json"))(
        rankings.compare
    )


def _queues(app: typer.Typer) -> None:
    from wavepool_client.commands import queues

    app.command(epilog=examples("wavepool why job_01J…", "wavepool why job_01J… --json | jq .reason"))(queues.why)
    app.add_typer(queues.app, name="queues")


def _prices(app: typer.Typer) -> None:
    from wavepool_client.commands import prices

    app.command(
        epilog=examples(
            "wavepool quote",
            "wavepool quote --gpu MI300X --fallback-gpu MI210",
            "wavepool quote --seconds 426.83 --json",
        )
    )(prices.quote)
    app.add_typer(prices.app, name="prices")


def _projections(app: typer.Typer) -> None:
    from wavepool_client.commands import projections

    app.command(
        epilog=examples(
            "wavepool projections",
            "wavepool projections --operator --json",
        )
    )(projections.projections)


def _sign_in(app: typer.Typer) -> None:
    from wavepool_client.commands import sign_in

    app.command(
        epilog=examples("wavepool login --url https://wavepool.example", "wavepool login --no-browser")
        + f"\n\n{EXPLANATION}"
    )(sign_in.login)
    app.command(epilog=examples("wavepool logout --url https://wavepool.example"))(sign_in.logout)


def _group(name: str, module: str, attribute: str = "app") -> Callable[[typer.Typer], None]:
    """What adds a module's `app` as the group `name`."""

    def add(app: typer.Typer) -> None:
        app.add_typer(getattr(importlib.import_module(f"wavepool_client.commands.{module}"), attribute), name=name)

    return add


def _plug_ins(app: typer.Typer) -> None:
    for installed in entry_points(group="wavepool.commands"):
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
    """Has a command print its help as plain text, and refuse numbers that no request can have."""
    for one in command.params:
        one.callback = _finite(one.callback)
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            _prepare(below)
    else:
        # Panels cut the names of options in terminals of 80 columns.
        command.rich_markup_mode = None


def _finite(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """What checks an option before its own callback; raises InputError for `nan` and `inf`, which JSON lacks."""

    def check(context: Any, option: Any, value: Any) -> Any:  # noqa: ANN401 - as above
        if isinstance(value, float) and not math.isfinite(value) and not context.resilient_parsing:
            raise InputError(f"{max(option.opts, key=len)}: is {value}; give a finite number, such as 0.5")
        return callback(context, option, value) if callback else value

    return check


PARTS: tuple[tuple[tuple[str, ...], Callable[[typer.Typer], None]], ...] = (
    (
        (
            "submit",
            "watch",
            "show",
            "jobs",
        ),
        _submissions,
    ),
    (("cancel",), _cancel),
    (("reserve",), _reserve),
    (("run",), _run),
    (
        (
            "reservations",
            "extend",
            "avail",
        ),
        _reservations,
    ),
    (
        (
            "queue-status",
            "status",
        ),
        _status,
    ),
    (
        (
            "connect",
            "ssh-config",
            "ssh-proxy",
        ),
        _connect,
    ),
    (
        (
            "forward",
            "jupyter",
            "tensorboard",
        ),
        _web_programs,
    ),
    (
        (
            "isa",
            "report",
            "verify",
        ),
        _reports,
    ),
    (
        (
            "costs",
            "limits",
            "statement",
            "grants",
            "budgets",
        ),
        _money,
    ),
    (
        (
            "leaderboard",
            "compare",
        ),
        _rankings,
    ),
    (("metrics",), _group("metrics", "metrics")),
    (
        (
            "why",
            "queues",
        ),
        _queues,
    ),
    (("alerts",), _group("alerts", "alerts")),
    (("accounts",), _group("accounts", "identity", "accounts")),
    (("users",), _group("users", "identity", "users")),
    (("teams",), _group("teams", "identity", "teams")),
    (("tokens",), _group("tokens", "identity", "tokens")),
    (("keys",), _group("keys", "keys")),
    (("disk",), _group("disk", "disk")),
    (("config",), _group("config", "config")),
    (
        (
            "quote",
            "prices",
        ),
        _prices,
    ),
    (("projections",), _projections),
    (
        (
            "login",
            "logout",
        ),
        _sign_in,
    ),
    (("machines",), _group("machines", "machines")),
    (("problems",), _group("problems", "catalogue")),
)
"""Commands by name, and what adds them."""


def main() -> None:
    """Runs the command and exits with its status."""
    try:
        app()
    except WavepoolError as error:
        say(f"wavepool: {error}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
