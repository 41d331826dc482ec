"""`wavepool costs`."""

from __future__ import annotations

from typing import Any, cast

from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect
from wavepool_client.machine_text import dollars_text
from wavepool_client.result_printing import table_of
from wavepool_client.terminal import print_json, results

AMOUNTS = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}


def costs(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the account's credit and what was spent."""
    with connect(endpoint, token) as client:
        told = client.costs()
    if as_json:
        print_json(told)
        return
    amounts = [(name, dollars_text(told[field])) for name, field in AMOUNTS.items() if field in told]
    results.print(table_of(("", ""), [("account", told.get("account_name")), *amounts, ("alert", _alert(told))]))
    postings = cast("list[dict[str, Any]]", told.get("postings") or [])
    rows = (
        (p.get("create_time"), p.get("kind"), dollars_text(p.get("amount_usd")), p.get("description")) for p in postings
    )
    results.print(table_of(("time", "kind", "amount", "what"), rows))


def _alert(told: dict[str, Any]) -> str:
    threshold = told.get("alert_threshold_pct")
    if not isinstance(threshold, int | float):
        return ""
    return f"at {threshold:g} % of the credit, {'reached' if told.get('alert_fired') else 'not reached'}"
