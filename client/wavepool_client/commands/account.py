"""`wavepool costs` and `wavepool limits`."""

from __future__ import annotations

import math
from typing import Annotated, Any, cast

import typer

from wavepool_client.commands.money import FromOption, ToOption, instant_of, show_proof, show_report
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect
from wavepool_client.money_client import MoneyClient
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.machines import dollars_text

AMOUNTS = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}


def costs(
    *,
    report: Annotated[
        bool, typer.Option("--report", help="What machines cost, what was charged, and why they differ; for operators.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Add the whole ledger up again; status 1 if it is wrong; for operators."),
    ] = False,
    start: FromOption = "",
    end: ToOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the account's credit and spending; for operators also the cost of machines."""
    if report or verify:
        with MoneyClient(endpoint, token) as money:
            answer = money.report(instant_of(start), instant_of(end)) if report else money.verify()
        if as_json:
            print_json(answer)
        else:
            (show_report if report else show_proof)(answer)
        return
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


def limits(
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many submissions the account may make now, and its limits."""
    with connect(endpoint, token) as client:
        answer = client.limits()
    if as_json:
        print_json(answer)
        return
    hour, renew = answer.get("max_submissions_per_hour"), answer.get("renew_after_seconds")
    rows = [
        ("possible now", answer.get("remaining_submissions"), "", ""),
        ("jobs in flight", answer.get("jobs_in_flight"), answer.get("max_jobs_in_flight"), ""),
        (
            "submissions in the last hour",
            answer.get("submissions_in_last_hour"),
            "none" if hour is None else hour,
            f"one more in {math.ceil(renew)} s" if hour and isinstance(renew, int | float) else "",
        ),
    ]
    results.print(table_of(("submissions", "now", "limit", ""), rows))


def _alert(answer: dict[str, Any]) -> str:
    threshold = answer.get("alert_threshold_pct")
    if not isinstance(threshold, int | float):
        return ""
    return f"at {threshold:g} % of the credit, {'reached' if answer.get('alert_fired') else 'not reached'}"
