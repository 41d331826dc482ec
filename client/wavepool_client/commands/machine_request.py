"""`wavepool machines request`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type
from wavepool_client.commands.options import (
    EndpointOption,  # noqa: TC001 - typer reads annotations at run time
    JsonOption,  # noqa: TC001
    TokenOption,  # noqa: TC001
)
from wavepool_client.errors import UnreachableError
from wavepool_client.pool_client import PoolClient
from wavepool_client.terminal.machine_progress import start_shown_on
from wavepool_client.terminal.machine_report import tell_machine
from wavepool_client.terminal.output import notes, say
from wavepool_client.text.machines import OVER_STATES, READY_STATES, order_text

SECONDS_PER_HOUR = 3600
GpuOption = Annotated[str, typer.Option("--gpu", help="The GPU type.", autocompletion=complete_gpu_type)]
ReasonOption = Annotated[str, typer.Option("--reason", help="For people: it stands with the machine.")]


def request(  # noqa: PLR0913 - an argument for each option
    *,
    gpu: GpuOption = "",
    gpus: Annotated[int, typer.Option("--gpus", help="How many of them: 1, 2, 4 or 8.")] = 1,
    provider: Annotated[str, typer.Option(help="Where from; any where left out.")] = "",
    backend: Annotated[str, typer.Option(help="As `wavepool machines offers` lists them.")] = "",
    region: Annotated[str, typer.Option(help="As `wavepool machines offers` lists them.")] = "",
    spot: Annotated[
        str | None, typer.Option(help="spot, on-demand or auto; as the pool is set up where left out.")
    ] = None,
    max_price: Annotated[float, typer.Option(help="Dollars per hour of the whole machine; 0: no limit.")] = 0.0,
    max_hours: Annotated[float, typer.Option(help="Its provider ends it after that time; 0: no limit.")] = 0.0,
    force_new: Annotated[bool, typer.Option("--force-new", help="A new machine, even if one stands ready.")] = False,
    reason: ReasonOption = "",
    key: Annotated[str, typer.Option("--key", help="A repeated key asks for the same machine.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Show its start, until it is ready or has failed.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask for a machine that no submission waits for: one that stands ready, or a new one."""
    order: dict[str, Any] = {"gpu_count": gpus, "force_new": force_new}
    order |= {"max_price_usd_per_hour": max_price, "max_duration_seconds": max_hours * SECONDS_PER_HOUR}
    texts = {
        "gpu_type": gpu,
        "provider": provider,
        "backend": backend,
        "region": region,
        "spot": spot,
        "reason": reason,
    }
    order |= {name: text for name, text in texts.items() if text}
    with PoolClient(endpoint, token) as pool:
        ordered = pool.request(order, key)
        machine: dict[str, Any] = ordered["machine"]
        if not as_json:
            say(f"{machine['id']} {'was ordered' if ordered.get('started') else 'is there'}: {order_text(machine)}")
        if wait:
            machine = _awaited(pool, machine)
    tell_machine(machine, as_json=as_json)


def _awaited(pool: PoolClient, machine: dict[str, Any]) -> dict[str, Any]:
    """Waits until the machine is ready and returns it; raises UnreachableError if it never becomes ready."""
    machine_id = str(machine["id"])
    if machine.get("state") not in READY_STATES:
        with start_shown_on(notes) as show_event:
            for event in pool.events(machine_id):
                show_event(event)
                if event.status in READY_STATES | OVER_STATES | {"DRAINING"}:
                    break
    machine = pool.machine(machine_id)
    if machine.get("state") in READY_STATES:
        return machine
    raise UnreachableError(f"{machine_id} is {str(machine.get('state')).lower()}: {machine.get('reason')}")
