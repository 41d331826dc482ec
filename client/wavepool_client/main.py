"""The `wavepool` command: adds its subcommands, and sets its exit status."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points, version
from typing import Annotated

import typer

from wavepool_client.commands import (
    account,
    accounts,
    alerts,
    cancel,
    catalogue,
    config,
    connect,
    keys,
    machines,
    metrics,
    money,
    prices,
    projections,
    queues,
    rankings,
    reports,
    reservation_status,
    reservations,
    reserve,
    run,
    sign_in,
    submissions,
    teams,
    tokens,
    users,
)
from wavepool_client.commands.completion import complete_profile
from wavepool_client.commands.options import examples
from wavepool_client.commands.passed_on import PassesOn
from wavepool_client.errors import WavepoolError
from wavepool_client.exit_codes import EXPLANATION
from wavepool_client.terminal.output import say

app = typer.Typer(
    name="wavepool",
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


def _add_commands() -> None:
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
    app.command(epilog=examples("wavepool cancel job_01J…", "wavepool cancel res_01J…", "wavepool cancel --yes"))(
        cancel.cancel
    )
    app.command()(submissions.show)
    app.command()(submissions.jobs)
    _add_reservation_commands()
    app.command(epilog=examples("wavepool isa job_01J…", "wavepool isa job_01J… --json | jq -r .listing"))(reports.isa)
    app.command(epilog=examples("wavepool report job_01J… -o result.json"))(reports.report)
    app.command(
        name="verify",
        epilog=examples("wavepool verify result.json", "wavepool verify result.json --key HEX --source relu.hip"),
    )(reports.verify_report)
    app.command(
        epilog=examples("wavepool costs", "wavepool costs --report --from 2026-11-01", "wavepool costs --verify --json")
    )(account.costs)
    app.command(epilog=examples("wavepool limits", "wavepool limits --json | jq .remaining_submissions"))(
        account.limits
    )
    app.command(
        epilog=examples("wavepool statement", "wavepool statement --month 2026-11 --format html -o november.html")
    )(money.statement)
    app.command(
        epilog=examples("wavepool leaderboard relu", "wavepool leaderboard relu --gpu MI300X --timing hot --json")
    )(rankings.leaderboard)
    app.command(epilog=examples("wavepool compare job_01J… job_01K…", "wavepool compare job_01J… job_01K… --json"))(
        rankings.compare
    )
    app.add_typer(metrics.app, name="metrics")
    app.command(epilog=examples("wavepool why job_01J…", "wavepool why job_01J… --json | jq .reason"))(queues.why)
    app.add_typer(queues.app, name="queues")
    app.add_typer(alerts.app, name="alerts")
    app.add_typer(money.grants, name="grants")
    app.add_typer(money.budgets, name="budgets")
    for name, module in (("accounts", accounts), ("users", users), ("teams", teams), ("tokens", tokens)):
        app.add_typer(module.app, name=name)
    app.add_typer(config.app, name="config")
    app.command(
        epilog=examples(
            "wavepool quote",
            "wavepool quote --gpu MI300X --fallback-gpu MI210",
            "wavepool quote --seconds 426.83 --json",
        )
    )(prices.quote)
    app.command(
        epilog=examples(
            "wavepool projections",
            "wavepool projections --tasks 30 --idle-timeout 600 --warm-share 0.8",
            "wavepool projections --operator --json",
        )
    )(projections.projections)
    app.command(
        epilog=examples("wavepool login --url https://wavepool.example", "wavepool login --no-browser")
        + f"\n\n{EXPLANATION}"
    )(sign_in.login)
    app.command(epilog=examples("wavepool logout --url https://wavepool.example"))(sign_in.logout)
    app.add_typer(machines.app, name="machines")
    app.add_typer(prices.app, name="prices")
    app.add_typer(catalogue.app, name="problems")
    for installed in entry_points(group="wavepool.commands"):
        installed.load()(app)


def _add_reservation_commands() -> None:
    # -h is for hours, as gpu-dev has it.
    app.command(
        context_settings={"help_option_names": ["--help"]},
        epilog=examples(
            "wavepool reserve --hours 0.5",
            "wavepool reserve -g 8 -t MI300X -h 4 -n training",
            "wavepool reserve -h 2 --no-connect --json | jq -r .id",
        )
        + f"\n\n{EXPLANATION}",
    )(reserve.reserve)
    app.command(
        cls=PassesOn,
        context_settings={"help_option_names": ["--help"]},
        epilog=examples(
            "wavepool run -- rocm-smi",
            "wavepool run -g 8 -t MI300X -h 4 --dir . -- python train.py --epochs 3",
            "wavepool run --dir . --keep-alive -- 'make && ./bench | tee result.txt'",
        ),
    )(run.run)
    app.add_typer(reservations.app, name="reservations")
    app.add_typer(keys.app, name="keys")
    app.command(epilog=examples("wavepool extend 1.5", "wavepool extend training 0.5"))(reservations.extend)
    app.command(epilog=examples("wavepool avail", "wavepool avail -t MI300X --watch"))(reservations.avail)
    app.command(epilog=examples("wavepool queue-status -t MI300X"))(reservation_status.queue_status)
    app.command(epilog=examples("wavepool status --json | jq .free_gpus"))(reservation_status.status)
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


_add_commands()


def main() -> None:
    """Runs the command and exits with its status."""
    try:
        app()
    except WavepoolError as error:
        say(f"wavepool: {error}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
