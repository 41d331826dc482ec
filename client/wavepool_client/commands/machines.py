"""`wavepool machines`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type, complete_machine
from wavepool_client.commands.options import EndpointOption, Gateway, Group, Shown, TokenOption, YesOption, agrees
from wavepool_client.errors import UnreachableError
from wavepool_client.terminal.machine_progress import start_shown_on
from wavepool_client.terminal.machine_report import MACHINES, OFFERS, print_state
from wavepool_client.terminal.output import notes, say
from wavepool_client.terminal.result_printing import listing, table_of
from wavepool_client.text.machines import OVER_STATES, READY_STATES, money_text, order_text, tariff_text

app = Group(
    "The machines of the pool.",
    "wavepool machines",
    "wavepool machines offers --gpu MI300X",
    "wavepool machines request --gpu MI300X --max-price 2.50 --wait",
    "wavepool machines logs -f mach_01J…",
    "wavepool machines stop mach_01J… --reason 'not needed'",
)

MachineArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A machine's id, as `wavepool machines` lists them.", autocompletion=complete_machine
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Even if it has reservations.")]
GpuOption = Annotated[str, typer.Option("--gpu", help="The GPU type.", autocompletion=complete_gpu_type)]
ReasonOption = Annotated[str, typer.Option("--reason", help="A note that is shown with the machine.")]

IN_TARIFF = frozenset({"price_usd_per_hour", "minimum_billed_seconds", "billing_increment_seconds"})
"""Fields that are shown together, as a sentence."""
SECONDS_PER_HOUR = 3600


@app.lists()
def list_machines(
    gateway: Gateway,
    *,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Include machines that are over.")] = False,
) -> Shown:
    """List the machines, with the cost of each so far."""
    found = gateway.ask("GET", "machines", include_ended=everything)
    yield found["machines"]
    yield listing(found["machines"], MACHINES)
    for refused in found.get("refused_providers", ()):
        yield f"provider {refused['provider']}: {refused['message']}"
    for stopped in found.get("stopped_sources", ()):
        yield f"{_source(stopped)}: {stopped['message']}"


@app.answers("show")
def show(gateway: Gateway, machine_id: MachineArgument) -> Shown:
    """Show one machine: its hardware, its state with the reason, and its cost."""
    machine = gateway.ask("GET", "machines", machine_id)
    yield machine
    shown = {**machine, "tariff": tariff_text(machine), "cost_usd": money_text(machine.get("cost_usd"))}
    shown["reservation_ids"] = ", ".join(machine.get("reservation_ids", ()))
    rows = [(name, value) for name, value in shown.items() if name not in IN_TARIFF and value not in ("", None, 0)]
    yield table_of(("field", "value"), rows)


@app.command()
def logs(
    machine_id: MachineArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing until the machine is over.")] = False,
    tail: Annotated[int, typer.Option("--tail", "-n", min=0, max=10_000, help="Only the last lines; 0: all.")] = 0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Print the output of a machine's executor. Like all changes of machines, this takes an operator's token."""
    with Gateway(endpoint, token) as gateway:
        for piece in gateway.pieces("machines", machine_id, "logs", follow=follow, tail=tail):
            sys.stdout.write(piece.decode(errors="replace"))
            sys.stdout.flush()


@app.answers("drain")
def drain(
    gateway: Gateway, machine_id: MachineArgument, *, reason: ReasonOption = "", force: ForceOption = False
) -> Shown:
    """Let a machine finish its runs and reservations, then stop it."""
    yield from _state_shown(gateway.ask("POST", "machines", machine_id, "drain", reason=reason, force=force))


@app.answers("stop")
def stop(
    gateway: Gateway,
    machine_id: MachineArgument,
    *,
    reason: ReasonOption = "",
    force: ForceOption = False,
    yes: YesOption = False,
) -> Shown:
    """Stop a machine at once; its runs start again elsewhere."""
    is_busy = not yes and gateway.ask("GET", "machines", machine_id).get("state") == "BUSY"
    if is_busy and not agrees(f"Jobs run on {machine_id}, and will start again elsewhere. Stop it?", yes=yes):
        raise typer.Abort
    yield from _state_shown(gateway.ask("POST", "machines", machine_id, "stop", reason=reason, force=force))


@app.answers("request")
def request(  # noqa: PLR0913 - an argument for each option
    gateway: Gateway,
    *,
    gpu: GpuOption = "",
    gpus: Annotated[int, typer.Option("--gpus", help="The number of GPUs: 1, 2, 4 or 8.")] = 1,
    provider: Annotated[str, typer.Option(help="Only this provider.")] = "",
    backend: Annotated[str, typer.Option(help="As `wavepool machines offers` lists them.")] = "",
    region: Annotated[str, typer.Option(help="As `wavepool machines offers` lists them.")] = "",
    spot: Annotated[str | None, typer.Option(help="spot, on-demand or auto. Default: the pool's setting.")] = None,
    max_price: Annotated[float, typer.Option(help="Dollars per hour of the whole machine; 0: no limit.")] = 0.0,
    max_hours: Annotated[float, typer.Option(help="The provider ends it after this time; 0: no limit.")] = 0.0,
    force_new: Annotated[bool, typer.Option("--force-new", help="A new machine, even if one is ready.")] = False,
    reason: ReasonOption = "",
    key: Annotated[str, typer.Option("--key", help="A repeated key asks for the same machine.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Show its start until it is ready or has failed.")] = False,
) -> Shown:
    """Ask for a machine that no submission waits for: one that is ready, or a new one."""
    order: dict[str, Any] = {"gpu_count": gpus, "force_new": force_new}
    order |= {"max_price_usd_per_hour": max_price, "max_duration_seconds": max_hours * SECONDS_PER_HOUR}
    texts = {"gpu_type": gpu, "provider": provider, "backend": backend, "region": region, "spot": spot}
    order |= {name: text for name, text in {**texts, "reason": reason}.items() if text}
    ordered = gateway.once("machines", body=order, key=key)
    machine: dict[str, Any] = ordered["machine"]
    say(f"{machine['id']} {'was ordered' if ordered.get('started') else 'is there'}: {order_text(machine)}")
    yield from _state_shown(_awaited(gateway, machine) if wait else machine)


@app.answers("offers")
def offers(gateway: Gateway, *, gpu: GpuOption = "") -> Shown:
    """List the machines that can be rented now, cheapest per GPU first: their cost, and the price that users pay."""
    reported = gateway.ask("GET", "offers", gpu_type=gpu)
    yield reported
    yield listing(reported["offers"], OFFERS)
    for failure in reported["failures"]:
        yield f"provider {failure['provider']} made no offers: {failure['message']}"


@app.answers("resume")
def resume(gateway: Gateway, *, gpu: GpuOption = "") -> Shown:
    """Rent machines again from sources that were stopped because too many machines in a row ran nothing."""
    resumed = gateway.ask("POST", "providers", "resume", gpu_type=gpu)["resumed_sources"]
    yield resumed
    for source in resumed:
        yield f"machines are rented again: {_source(source)}"
    if not resumed:
        yield "nothing was stopped"


def _state_shown(machine: dict[str, Any]) -> Shown:
    yield machine
    print_state(machine)


def _awaited(gateway: Gateway, machine: dict[str, Any]) -> dict[str, Any]:
    """Waits until the machine is ready and returns it; raises UnreachableError if it never becomes ready."""
    path = ("machines", str(machine["id"]))
    if machine.get("state") not in READY_STATES:
        events = gateway.followed(*path, "events", is_over=lambda: bool(gateway.ask("GET", *path).get("release_time")))
        with start_shown_on(notes) as show_event:
            for event in events:
                show_event(event)
                if event.status in READY_STATES | OVER_STATES | {"DRAINING"}:
                    break
    machine = gateway.ask("GET", *path)
    if machine.get("state") in READY_STATES:
        return machine
    raise UnreachableError(f"{path[1]} is {str(machine.get('state')).lower()}: {machine.get('reason')}")


def _source(source: Mapping[str, str]) -> str:
    place = f"{source['provider']}/{source['backend']}" if source["backend"] else source["provider"]
    return f"{source['gpu_type']} at {place}"
