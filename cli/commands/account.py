"""`wavepool costs`."""

from __future__ import annotations

from typing import Any, cast

from cli.commands.options import EndpointOption, JsonOption, TokenOption, connect
from cli.report import table_of
from cli.terminal import print_json, results


def costs(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the account's credit and what was spent."""
    with connect(endpoint, token) as client:
        told = client.costs()
    if as_json:
        print_json(told)
        return
    shown = {name: value for name, value in told.items() if name not in {"postings", "next_page_token"}}
    results.print(table_of(("", ""), shown.items()))
    postings = cast("list[dict[str, Any]]", told.get("postings") or [])
    columns = ("create_time", "kind", "amount_usd", "description")
    results.print(table_of(columns, ([posting.get(column) for column in columns] for posting in postings)))
