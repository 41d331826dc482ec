"""`wavepool costs`, `limits`, `statement`, `grants` and `budgets`."""

from __future__ import annotations

import math
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wavepool_client.commands.options import Gateway, Group, Shown, answered
from wavepool_client.errors import InputError
from wavepool_client.terminal.output import results, say
from wavepool_client.terminal.result_printing import listing, table_of
from wavepool_client.text.columns import Column, written
from wavepool_client.text.machines import dollars_text
from wavepool_client.text.start_times import time_text

_AMOUNT = written("amount_usd", dollars_text)
AMOUNTS = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}

FromOption = Annotated[
    str, typer.Option("--from", metavar="DATE", help="The first day or instant (UTC). Default: the beginning.")
]
ToOption = Annotated[
    str, typer.Option("--to", metavar="DATE", help="The end, which is not included: a day or instant. Default: now.")
]
AccountOption = Annotated[str, typer.Option("--account", metavar="ID", help="An account's id or name. Default: yours.")]
AccountArgument = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account's id or name.")]
DollarsArgument = Annotated[str, typer.Argument(metavar="DOLLARS", help="For example 5 or 0.25.")]
WhyOption = Annotated[str, typer.Option("--description", "-m", help="A note for the account's statement.")]


class Form(StrEnum):
    """The form of a statement."""

    TABLE = "table"
    CSV = "csv"
    HTML = "html"


@answered
def costs(
    gateway: Gateway,
    *,
    report: Annotated[
        bool,
        typer.Option("--report", help="The cost of machines, the charges, and why they differ; for operators."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the whole ledger; exits with 1 if it is wrong; for operators.")
    ] = False,
    start: FromOption = "",
    end: ToOption = "",
) -> Shown:
    """Show the account's credit and spending; for operators also the cost of machines."""
    if report:
        answer = gateway.ask("GET", "billing", "report", **_period(start, end))
        yield answer
        _show_report(answer)
    elif verify:
        answer = gateway.ask("GET", "billing", "verify")
        yield answer
        _show_proof(answer)
    else:
        answer = gateway.ask("GET", "costs")
        yield answer
        amounts = [(name, dollars_text(answer[field])) for name, field in AMOUNTS.items() if field in answer]
        yield table_of(("", ""), [("account", answer.get("account_name")), *amounts, ("alert", _alert(answer))])
        columns = {"time": written("create_time"), "kind": "kind", "amount": _AMOUNT, "what": "description"}
        yield listing(answer.get("postings") or [], columns)


@answered
def limits(gateway: Gateway) -> Shown:
    """Show how many submissions the account may make now, and its limits."""
    answer = gateway.ask("GET", "limits")
    yield answer
    hour, renew = answer.get("max_submissions_per_hour"), answer.get("renew_after_seconds")
    used_up = hour is not None and answer.get("submissions_in_last_hour", 0) >= hour
    rows = [
        ("possible now", answer.get("remaining_submissions"), "", ""),
        ("jobs in flight", answer.get("jobs_in_flight"), answer.get("max_jobs_in_flight"), ""),
        (
            "submissions in the last hour",
            answer.get("submissions_in_last_hour"),
            "none" if hour is None else hour,
            f"one more in {math.ceil(renew)} s" if used_up and isinstance(renew, int | float) else "",
        ),
    ]
    yield table_of(("submissions", "now", "limit", ""), rows)


@answered
def statement(
    gateway: Gateway,
    *,
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help="A month, instead of --from and --to.")] = "",
    start: FromOption = "",
    end: ToOption = "",
    account: AccountOption = "",
    user: Annotated[str, typer.Option(metavar="ID", help="Only this user's charges.")] = "",
    form: Annotated[Form, typer.Option("--format", help="HTML can be printed and filed.")] = Form.TABLE,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")] = None,
) -> Shown:
    """Show an account's movements of a period, with the balance before and after."""
    query: dict[str, Any] = {
        **(_month(month) if month else _period(start, end)),
        "account_id": account,
        "user_id": user,
    }
    if form is not Form.TABLE:
        _write(b"".join(gateway.pieces("billing", "statement", **query, format=form.value)).decode(), output)
        raise typer.Exit
    answer = gateway.ask("GET", "billing", "statement", **query)
    yield answer
    balances = [(name, dollars_text(answer.get(f"{name}_usd"))) for name in ("opening", "closing", "held")]
    yield table_of(("", ""), [("account", answer.get("account_name")), *balances])
    for name in ("day", "problem", "gpu_type", "user"):
        rows = [
            (one["label"] or "none", one["works"], dollars_text(one["charged_usd"])) for one in answer[f"by_{name}"]
        ]
        if rows:
            yield table_of((name.replace("_", " "), "number", "charged"), rows)
    columns = {"time": _times, "kind": "kind", "amount": _AMOUNT, "what": "description", "why not more": "reason"}
    yield listing(answer["lines"], columns)


def _times(line: dict[str, Any]) -> str:
    """The time of a line; of a reservation, which is charged in parts, from the first to the last."""
    first, last = line.get("start_time"), line["time"]
    return f"{time_text(first)} to {time_text(last)}" if first and first != last else time_text(last)


grants = Group(
    "Credit that was granted.",
    "wavepool grants",
    "wavepool grants add acct_01J… 5 -m welcome --expires 2027-01-01",
)
budgets = Group(
    "Limits on the charges of a period.",
    "wavepool budgets",
    "wavepool budgets set account acct_01J… month 20",
)


@grants.lists()
def list_grants(gateway: Gateway, *, account: AccountOption = "") -> Shown:
    """List an account's grants, newest first, with the rest of each."""
    found = gateway.ask("GET", "billing", "grants", account_id=account)["grants"]
    yield found
    columns: dict[str, Column] = {
        "time": written("create_time"),
        "granted": _AMOUNT,
        "left": written("remaining_usd", dollars_text),
        "expires": lambda grant: time_text(grant["expire_time"]) or "never",
        "what": "description",
    }
    yield listing(found, columns)


@grants.answers("add")
def add_grant(
    gateway: Gateway,
    account: AccountArgument,
    dollars: DollarsArgument,
    *,
    description: WhyOption = "",
    expires: Annotated[str, typer.Option(metavar="DATE", help="When the rest expires (UTC). Default: never.")] = "",
) -> Shown:
    """Grant credit to an account."""
    body = {"account_id": account, "amount_usd": dollars, "description": description}
    until = {"expire_time": instant_of(expires)} if expires else {}
    yield from _credit_shown(gateway.once("billing", "grants", body=body | until))


@grants.answers("revoke")
def revoke_grant(
    gateway: Gateway, account: AccountArgument, dollars: DollarsArgument, *, description: WhyOption = ""
) -> Shown:
    """Take credit back that is neither spent nor on hold."""
    body = {"account_id": account, "amount_usd": dollars, "description": description}
    yield from _credit_shown(gateway.once("billing", "revocations", body=body))


@grants.answers("refund")
def refund(
    gateway: Gateway,
    hold: Annotated[str, typer.Argument(metavar="HOLD", help="The hold whose charge is given back.")],
    dollars: DollarsArgument,
    *,
    description: WhyOption = "",
) -> Shown:
    """Give a charge back, in whole or in part."""
    body = {"hold_id": hold, "amount_usd": dollars, "description": description}
    yield from _credit_shown(gateway.once("billing", "refunds", body=body))


class Scope(StrEnum):
    """The kind of thing that a budget limits."""

    ACCOUNT = "account"
    USER = "user"
    QUEUE = "queue"


class Period(StrEnum):
    """The time after which a budget starts over, in UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    TOTAL = "total"


@budgets.lists()
def list_budgets(gateway: Gateway) -> Shown:
    """List the budgets, with the amount spent of each."""
    found = gateway.ask("GET", "billing", "budgets")["budgets"]
    yield found
    columns: dict[str, Column] = {
        "id": "id",
        "of": lambda budget: f"{budget['scope'].lower()} {budget['subject_name']}",
        "period": written("period", str.lower),
        "limit": written("limit_usd", dollars_text),
        "spent": written("spent_usd", dollars_text),
        "kind": lambda budget: "hard" if budget["hard"] else "soft",
    }
    yield listing(found, columns)


@budgets.answers("set")
def set_budget(
    gateway: Gateway,
    scope: Annotated[Scope, typer.Argument(help="The kind of thing to limit.")],
    subject: Annotated[str, typer.Argument(metavar="ID", help="The account's or user's id or name; the queue's name.")],
    period: Annotated[Period, typer.Argument(help="The budget starts over with each, in UTC.")],
    dollars: DollarsArgument,
    *,
    soft: Annotated[bool, typer.Option("--soft", help="Only show it; refuse nothing.")] = False,
) -> Shown:
    """Set a budget. It replaces one with the same scope, id and period."""
    budget = {"scope": scope.upper(), "subject": subject, "period": period.upper(), "limit_usd": dollars}
    budget_id = gateway.ask("PUT", "billing", "budgets", body={**budget, "hard": not soft})["id"]
    yield {"id": budget_id}
    yield f"budget {budget_id}"


@budgets.answers("remove")
def remove_budget(
    gateway: Gateway,
    budget: Annotated[str, typer.Argument(metavar="ID", help="A budget's id, as `wavepool budgets` lists them.")],
) -> Shown:
    """Remove a budget."""
    gateway.ask("DELETE", "billing", "budgets", budget)
    yield {"removed": budget}


def _show_report(answer: dict[str, Any]) -> None:
    """Prints the operator's report of cost and charge."""
    sums = [(name, dollars_text(answer.get(f"{name}_usd"))) for name in ("cost", "charged", "overhead", "surplus")]
    cloud = [(f"cloud {name}", dollars_text(answer.get(f"cloud_{name}_usd"))) for name in ("granted", "remaining")]
    results.print(table_of(("", ""), [*sums, *cloud]))
    if answer.get("cost_note"):
        results.print(str(answer["cost_note"]), markup=False)
    for field, title in (("costs", "cost"), ("overheads", "overhead")):
        rows = [(part["reason"], dollars_text(part["amount_usd"])) for part in answer.get(field, ())]
        results.print(table_of((f"{title} by reason", ""), rows))
    names = ("charged_usd", "use_usd", "overhead_usd")
    rows = [(one["account_name"], *(dollars_text(one[name]) for name in names)) for one in answer.get("accounts", ())]
    results.print(table_of(("account", "charged", "cost of use", "share of overhead"), rows))


def _show_proof(answer: dict[str, Any]) -> None:
    """Prints the result of a verification; exits with status 1 if the books are not right."""
    results.print(
        table_of(("", ""), [(name, answer.get(name)) for name in ("transactions", "postings", "last_digest")])
    )
    for fault in answer.get("faults", ()):
        say(fault)
    if not answer.get("right"):
        raise typer.Exit(1)
    say("the books are right")


def _credit_shown(answer: dict[str, Any]) -> Shown:
    yield answer
    yield f"{dollars_text(answer.get('available_usd'))} is available"


def _alert(answer: dict[str, Any]) -> str:
    threshold = answer.get("alert_threshold_pct")
    if not isinstance(threshold, int | float):
        return ""
    return f"at {threshold:g} % of the credit, {'reached' if answer.get('alert_fired') else 'not reached'}"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error


def _period(start: str, end: str) -> dict[str, Any]:
    return {"from": instant_of(start), "to": instant_of(end)}


def _month(month: str) -> dict[str, str]:
    try:
        first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(f"--month: {month!r} is not a month; write it as 2026-11") from error
    last_month = 12
    is_last = first.month == last_month
    after = first.replace(year=first.year + is_last, month=1 if is_last else first.month + 1)
    return {"from": first.isoformat(), "to": after.isoformat()}


def instant_of(text: str) -> str:
    """A date or instant in ISO 8601; a date is its midnight in UTC."""
    if not text:
        return ""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a date; write it as 2026-11-26 or 2026-11-26T12:00:00Z") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()
