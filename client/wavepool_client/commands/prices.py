"""`wavepool prices` and `wavepool quote`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect, examples
from wavepool_client.errors import InputError
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.machines import dollars_text, seconds_text

app = typer.Typer(
    help="The prices of GPU time.",
    epilog=examples(
        "wavepool prices",
        "wavepool prices set MI300X 2.29 --from 2027-01-01T00:00Z",
        "wavepool prices set MI300X 0.99 --from 2027-01-01 --until 2027-02-01",
        "wavepool prices history MI300X --json",
    ),
)

TypeArgument = Annotated[
    str, typer.Argument(metavar="TYPE", help="The GPU type, in any case.", autocompletion=complete_gpu_type)
]
SpotOption = Annotated[bool, typer.Option("--spot", help="The price on spot machines.")]


@app.callback(invoke_without_command=True)
def prices(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """The prices of GPU time; without a subcommand, lists them."""
    if context.invoked_subcommand is None:
        list_prices(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_prices(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List the GPU types that can be asked for, with the prices of now."""
    with connect(endpoint, token) as client:
        found = client.prices()
    if as_json:
        print_json(found)
        return
    results.print(table_of(("gpu", "price per hour", "kind", "since", "until"), map(_row, found["prices"])))


@app.command("set")
def set_price(  # noqa: PLR0913 - an argument for each option
    gpu_type: TypeArgument,
    dollars: Annotated[float, typer.Argument(help="Dollars per hour of one whole GPU.")],
    *,
    spot: SpotOption = False,
    start: Annotated[
        str, typer.Option("--from", metavar="TIME", help="ISO 8601, in this machine's zone without one; default: now.")
    ] = "",
    end: Annotated[
        str, typer.Option("--until", metavar="TIME", help="The price before counts again then; default: for good.")
    ] = "",
    minimum: Annotated[float, typer.Option(help="The least time that is charged, in seconds.")] = 0.0,
    increment: Annotated[float, typer.Option(help="Time is charged in steps of so many seconds; 0: exactly.")] = 0.0,
    replace_planned: Annotated[
        bool, typer.Option("--replace-planned", help="Withdraw the planned prices that begin then or later.")
    ] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set a price, never for the past. Jobs keep the price of their submission. This takes an administrator's token."""
    body: dict[str, Any] = {"gpu_type": gpu_type, "price_usd_per_hour": dollars, "spot": spot}
    body |= {"minimum_billed_seconds": minimum, "billing_increment_seconds": increment}
    times = {"start_time": _instant("--from", start), "end_time": _instant("--until", end)}
    body |= {name: instant for name, instant in times.items() if instant}
    with connect(endpoint, token) as client:
        period = client.set_price(body | {"replace_planned": replace_planned})
    if as_json:
        print_json(period)
        return
    until = f" until {period['end_time']}" if period.get("end_time") else ""
    results.print(f"{period.get('text')} from {period.get('start_time')}{until}", markup=False)


@app.command()
def history(
    gpu_type: Annotated[
        str, typer.Argument(metavar="[TYPE]", help="Only this GPU type.", autocompletion=complete_gpu_type)
    ] = "",
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the prices of the past, of now, and of the time to come."""
    with connect(endpoint, token) as client:
        found = client.price_history(gpu_type)
    if as_json:
        print_json(found)
        return
    columns = ("gpu", "price per hour", "kind", "since", "until", "set by")
    results.print(table_of(columns, ((*_row(one), str(one.get("source")).lower()) for one in found)))


def quote(
    *,
    gpu: Annotated[
        str,
        typer.Option(
            "--gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="The GPU to ask for; the operator's default if left out.",
        ),
    ] = "",
    fallback_gpu: Annotated[
        list[str] | None,
        typer.Option(
            "--fallback-gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="Another GPU that will do; give it again for more. The dearest counts.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="How long; default: the longest time that a run may take.")
    ] = None,
    gpus: Annotated[int, typer.Option("--gpus", help="The number of GPUs.")] = 1,
    eighths: Annotated[int, typer.Option("--eighths", help="The share of each GPU, from 1 to 8.")] = 8,
    spot: Annotated[bool, typer.Option("--spot", help="On a spot machine.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a submission would cost at the prices of now, and the most that it can cost."""
    query: dict[str, Any] = {"gpu_type": [one for one in (gpu, *(fallback_gpu or ())) if one]}
    query |= {"gpus": gpus, "eighths": eighths, "spot": "true" if spot else "false"}
    if seconds is not None:
        query["duration_seconds"] = seconds
    with connect(endpoint, token) as client:
        found = client.quote(query)
    if as_json:
        print_json(found)
        return
    lasting = seconds_text(found.get("duration_seconds"))
    columns = ("gpu", "price per hour", "all per hour", lasting, "at least")
    figures = ("price_usd_per_hour", "hour_usd", "price_usd", "minimum_usd")
    rows = ((line.get("gpu_type"), *(dollars_text(line.get(name)) for name in figures)) for line in found["lines"])
    results.print(table_of(columns, rows))
    results.print(
        f"A submission puts {dollars_text(found.get('hold_usd'))} on hold, the most that it can cost: "
        f"a run ends after {seconds_text(found.get('longest_run_seconds'))}. You pay for the time that it takes."
    )


def _row(price: dict[str, Any]) -> tuple[object, ...]:
    kind = "spot" if price.get("spot") else "ordinary"
    dollars = dollars_text(price.get("price_usd_per_hour"))
    return (price.get("text"), dollars, kind, price.get("start_time"), price.get("end_time"))


def _instant(option: str, text: str) -> str:
    """The instant in ISO 8601 with its zone; empty if `text` is. Raises InputError."""
    if not text:
        return ""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except (ValueError, OverflowError) as error:
        raise InputError(f"{option}: {text!r} is not a time such as 2027-01-01T00:00Z: {error}") from error
