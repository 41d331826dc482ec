"""`wavepool prices` and `wavepool quote`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type
from wavepool_client.commands.options import Client, Group, Shown, answered, instant_with_zone
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import listing, table_of
from wavepool_client.text.columns import Column, written
from wavepool_client.text.machines import dollars_text, seconds_text
from wavepool_client.text.start_times import time_text

app = Group(
    "The prices of GPU time.",
    "wavepool prices",
    "wavepool prices set MI300X 2.29 --from 2027-01-01T00:00Z",
    "wavepool prices set MI300X 0.99 --from 2027-01-01 --until 2027-02-01",
    "wavepool prices history MI300X --json",
)

PRICES: Mapping[str, Column] = {
    "gpu": "text",
    "price per hour": written("price_usd_per_hour", dollars_text),
    "kind": lambda price: "spot" if price.get("spot") else "ordinary",
    "since": written("start_time"),
    "until": written("end_time"),
}
TypeArgument = Annotated[
    str, typer.Argument(metavar="TYPE", help="The GPU type, in any case.", autocompletion=complete_gpu_type)
]
SpotOption = Annotated[bool, typer.Option("--spot", help="The price on spot machines.")]


@app.lists()
def list_prices(gateway: Client) -> Shown:
    """List the GPU types that can be asked for, with their current prices."""
    found = gateway.prices()
    yield found
    yield listing(found["prices"], PRICES)


@app.answers("set")
def set_price(
    gateway: Client,
    gpu_type: TypeArgument,
    dollars: Annotated[float, typer.Argument(help="Dollars per hour of one whole GPU.")],
    *,
    spot: SpotOption = False,
    start: Annotated[
        str,
        typer.Option("--from", metavar="TIME", help="ISO 8601; without a zone, this machine's. Default: now."),
    ] = "",
    end: Annotated[
        str, typer.Option("--until", metavar="TIME", help="The earlier price applies again then. Default: for good.")
    ] = "",
    minimum: Annotated[float, typer.Option(help="The shortest time that is charged, in seconds.")] = 0.0,
    increment: Annotated[float, typer.Option(help="Time is charged in steps of this many seconds; 0: exactly.")] = 0.0,
    replace_planned: Annotated[
        bool, typer.Option("--replace-planned", help="Withdraw the planned prices that begin then or later.")
    ] = False,
) -> Shown:
    """Set a price, never for the past. Jobs keep the price of their submission. This takes an administrator's token."""
    body: dict[str, Any] = {"gpu_type": gpu_type, "price_usd_per_hour": dollars, "spot": spot}
    body |= {"minimum_billed_seconds": minimum, "billing_increment_seconds": increment}
    times = {"start_time": instant_with_zone("--from", start), "end_time": instant_with_zone("--until", end)}
    body |= {name: instant for name, instant in times.items() if instant}
    period = gateway.set_price(body | {"replace_planned": replace_planned})
    yield period
    until = f" until {time_text(period['end_time'])}" if period.get("end_time") else ""
    results.print(f"{period.get('text')} from {time_text(period.get('start_time'))}{until}", markup=False)


@app.answers("history")
def history(
    gateway: Client,
    gpu_type: Annotated[
        str, typer.Argument(metavar="[TYPE]", help="Only this GPU type.", autocompletion=complete_gpu_type)
    ] = "",
) -> Shown:
    """List past, current and planned prices."""
    found = gateway.price_history(gpu_type)
    yield found
    yield listing(found, {**PRICES, "set by": written("source", str.lower)})


@answered
def quote(
    gateway: Client,
    *,
    gpu: Annotated[
        str,
        typer.Option(
            "--gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="GPU type. Default: the operator's.",
        ),
    ] = "",
    fallback_gpu: Annotated[
        list[str] | None,
        typer.Option(
            "--fallback-gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="GPU type to use if --gpu is not free. Repeatable; the most expensive one counts.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Length of the run. Default: the longest time that a run may take."),
    ] = None,
    gpus: Annotated[int, typer.Option("--gpus", help="The number of GPUs.")] = 1,
    fraction: Annotated[
        float,
        typer.Option(
            "--fraction",
            metavar="PART",
            min=0.1,
            max=1,
            help="Part of each GPU, 0.1 to 1, rounded up to 1/8, 1/4, 1/2 or 1.",
        ),
    ] = 1.0,
    spot: Annotated[bool, typer.Option("--spot", help="On a spot machine.")] = False,
) -> Shown:
    """Show the cost of a submission at current prices, and the most that it can cost."""
    query: dict[str, Any] = {"gpu_type": [one for one in (gpu, *(fallback_gpu or ())) if one]}
    eighths = next(size for size in (1, 2, 4, 8) if 8 * fraction <= size)
    query |= {"gpus": gpus, "eighths": eighths, "spot": "true" if spot else "false"}
    if seconds is not None:
        query["duration_seconds"] = seconds
    found = gateway.quote(query)
    yield found
    lasting = seconds_text(found.get("duration_seconds"))
    columns = ("gpu", "price per hour", "all per hour", lasting, "at least")
    figures = ("price_usd_per_hour", "hour_usd", "price_usd", "minimum_usd")
    rows = ((line.get("gpu_type"), *(dollars_text(line.get(name)) for name in figures)) for line in found["lines"])
    yield table_of(columns, rows)
    results.print(
        f"A submission puts {dollars_text(found.get('hold_usd'))} on hold, the most that it can cost: "
        f"a run ends after {seconds_text(found.get('longest_run_seconds'))}. You pay for the time that it takes."
    )
