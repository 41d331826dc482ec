"""`wavepool costs`."""

from __future__ import annotations

from typing import Any, cast

from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.machines import dollars_text

AMOUNTS = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}


def costs(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the account's credit and spending."""
    with connect(endpoint, token) as client:
        answer = client.costs()
    if as_json:
        print_json(answer)
        return
    amounts = [(name, dollars_text(answer[field])) for name, field in AMOUNTS.items() if field in answer]
    results.print(table_of(("", ""), [("account", answer.get("account_name")), *amounts, ("alert", _alert(answer))]))
    postings = cast("list[dict[str, Any]]", answer.get("postings") or [])
    rows = (
        (p.get("create_time"), p.get("kind"), dollars_text(p.get("amount_usd")), p.get("description")) for p in postings
    )
    results.print(table_of(("time", "kind", "amount", "what"), rows))


def _alert(answer: dict[str, Any]) -> str:
    threshold = answer.get("alert_threshold_pct")
    if not isinstance(threshold, int | float):
        return ""
    return f"at {threshold:g} % of the credit, {'reached' if answer.get('alert_fired') else 'not reached'}"
