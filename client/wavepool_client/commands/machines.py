"""`wavepool machines`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from wavepool_client.commands.completion import complete_machine
from wavepool_client.commands.machine_request import GpuOption, ReasonOption, request
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, examples
from wavepool_client.errors import InputError
from wavepool_client.pool_client import PoolClient
from wavepool_client.terminal.machine_report import MACHINE_COLUMNS, OFFER_COLUMNS, machine_row, offer_row, tell_machine
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.machines import money_text, tariff_text

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    help="The machines of the pool.",
    epilog=examples(
        "wavepool machines",
        "wavepool machines offers --gpu MI300X",
        "wavepool machines request --gpu MI300X --max-price 2.50 --wait",
        "wavepool machines logs -f mach_01J…",
        "wavepool machines stop mach_01J… --reason 'not needed'",
    ),
)


MachineArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A machine's id, as `wavepool machines` lists them.", autocompletion=complete_machine
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Also if reservations stand on it.")]
AllOption = Annotated[bool, typer.Option("--all", "-a", help="Also machines that are over.")]


IN_TARIFF = frozenset({"price_usd_per_hour", "minimum_billed_seconds", "billing_increment_seconds"})
"""Fields that are shown together, as a sentence."""


@app.callback(invoke_without_command=True)
def machines(
    context: typer.Context,
    *,
    everything: AllOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """The machines of the pool; without a subcommand, lists them."""
    if context.invoked_subcommand is None:
        list_machines(everything=everything, endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_machines(
    *,
    everything: AllOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the machines, with the cost of each so far."""
    with PoolClient(endpoint, token) as pool:
        found = pool.machine_list(include_ended=everything)
    if as_json:
        print_json(found["machines"])
        return
    results.print(table_of(MACHINE_COLUMNS, map(machine_row, found["machines"])))
    for refused in found.get("refused_providers", ()):
        say(f"provider {refused['provider']}: {refused['message']}")
    for stopped in found.get("stopped_sources", ()):
        say(f"{_source(stopped)}: {stopped['message']}")


@app.command()
def show(
    machine_id: MachineArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one machine: its hardware, its state with the reason, and its cost."""
    with PoolClient(endpoint, token) as pool:
        machine = pool.machine(machine_id)
    if as_json:
        print_json(machine)
        return
    shown = {**machine, "tariff": tariff_text(machine), "cost_usd": money_text(machine.get("cost_usd"))}
    shown["reservation_ids"] = ", ".join(machine.get("reservation_ids", ()))
    rows = [(name, value) for name, value in shown.items() if name not in IN_TARIFF and value not in ("", None, 0)]
    results.print(table_of(("field", "value"), rows))


@app.command()
def logs(
    machine_id: MachineArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the machine is over.")] = False,
    tail: Annotated[int, typer.Option("--tail", "-n", min=0, max=10_000, help="Only the last lines; 0: all.")] = 0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Print the output of a machine's executor. Like all changes of machines, this takes an operator's token."""
    with PoolClient(endpoint, token) as pool:
        for piece in pool.log(machine_id, following=follow, tail=tail):
            sys.stdout.write(piece.decode(errors="replace"))
            sys.stdout.flush()


@app.command()
def drain(
    machine_id: MachineArgument,
    *,
    reason: ReasonOption = "",
    force: ForceOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a machine finish its runs and reservations, then stop it."""
    with PoolClient(endpoint, token) as pool:
        tell_machine(pool.drain(machine_id, reason, force=force), as_json=as_json)


@app.command()
def stop(
    machine_id: MachineArgument,
    *,
    reason: ReasonOption = "",
    force: ForceOption = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even if jobs run on it.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a machine at once; its runs start again elsewhere."""
    with PoolClient(endpoint, token) as pool:
        if not yes and pool.machine(machine_id).get("state") == "BUSY":
            _confirm(machine_id)
        tell_machine(pool.stop(machine_id, reason, force=force), as_json=as_json)


app.command()(request)


@app.command()
def offers(
    *,
    gpu: GpuOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the machines that can be had now, cheapest per GPU first: their cost, and what users pay for their GPUs."""
    with PoolClient(endpoint, token) as pool:
        reported = pool.offers(gpu)
    if as_json:
        print_json(reported)
        return
    results.print(table_of(OFFER_COLUMNS, map(offer_row, reported["offers"])))
    for failure in reported["failures"]:
        say(f"provider {failure['provider']} made no offers: {failure['message']}")


@app.command()
def resume(
    *,
    gpu: GpuOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rent machines again from sources that were stopped because too many machines in a row ran nothing."""
    with PoolClient(endpoint, token) as pool:
        resumed = pool.resume(gpu)
    if as_json:
        print_json(resumed)
        return
    for source in resumed:
        say(f"machines are rented again: {_source(source)}")
    if not resumed:
        say("nothing was stopped")


def _source(source: Mapping[str, str]) -> str:
    place = f"{source['provider']}/{source['backend']}" if source["backend"] else source["provider"]
    return f"{source['gpu_type']} at {place}"


def _confirm(machine_id: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"jobs run on {machine_id}; give --yes to stop it all the same, or drain it")
    typer.confirm(f"Jobs run on {machine_id}, and will start again elsewhere. Stop it?", abort=True, err=True)
