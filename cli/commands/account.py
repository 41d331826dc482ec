"""`wavepool machines` and `wavepool costs`."""

from __future__ import annotations

from typing import Any

from cli.commands.options import EndpointOption, JsonOption, TokenOption, connect
from cli.report import table_of
from cli.terminal import print_json, results


def machines(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List the machines of the pool."""
    with connect(endpoint, token) as client:
        found = client.machines()
    if as_json:
        print_json(found)
        return
    columns = ("id", "state", "provider", "gpu_type", "device_title", "sandbox", "jobs_run", "cost_usd")
    results.print(table_of(columns, ([machine.get(column) for column in columns] for machine in found)))


def costs(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the account's credit and what was spent."""
    with connect(endpoint, token) as client:
        told = client.costs()
    if as_json:
        print_json(told)
        return
    rows: list[tuple[str, Any]] = [(n, v) for n, v in told.items() if not isinstance(v, dict | list)]
    results.print(table_of(("", "value"), rows))
