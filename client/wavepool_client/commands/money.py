"""`wavepool statement`, `wavepool grants`, `wavepool budgets`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads it at run time
from typing import Annotated, Any

import typer

from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, examples
from wavepool_client.errors import InputError
from wavepool_client.money_client import MoneyClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.machines import dollars_text

FromOption = Annotated[
    str, typer.Option("--from", metavar="DATE", help="The first day or instant (UTC); else the beginning.")
]
ToOption = Annotated[str, typer.Option("--to", metavar="DATE", help="The first day or instant after it; none: now.")]
AccountOption = Annotated[str, typer.Option("--account", metavar="ID", help="Its id or name; default: your own.")]
AccountArgument = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account's id or name.")]
DollarsArgument = Annotated[str, typer.Argument(metavar="DOLLARS", help="For example 5 or 0.25.")]
WhyOption = Annotated[str, typer.Option("--description", "-m", help="For the account's statement.")]


class Form(StrEnum):
    """The form of a statement."""

    TABLE = "table"
    CSV = "csv"
    HTML = "html"


def statement(
    *,
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help="A month, in place of --from and --to.")] = "",
    start: FromOption = "",
    end: ToOption = "",
    account: AccountOption = "",
    user: Annotated[str, typer.Option(metavar="ID", help="Only what was charged for this user.")] = "",
    form: Annotated[Form, typer.Option("--format", help="A page in HTML can be printed and filed.")] = Form.TABLE,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file, in place of stdout.")] = None,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an account's movements of a period, with the balance before and after."""
    start, end = _month(month) if month else (instant_of(start), instant_of(end))
    with MoneyClient(endpoint, token) as money:
        if form is not Form.TABLE:
            _write(money.statement_text(form, start, end, account, user), output)
            return
        answer = money.statement(start, end, account, user)
    if as_json:
        print_json(answer)
        return
    balances = [(name, dollars_text(answer.get(f"{name}_usd"))) for name in ("opening", "closing", "held")]
    results.print(table_of(("", ""), [("account", answer.get("account_name")), *balances]))
    for name in ("day", "problem", "gpu_type", "user"):
        rows = [
            (one["label"] or "none", one["works"], dollars_text(one["charged_usd"])) for one in answer[f"by_{name}"]
        ]
        if rows:
            results.print(table_of((name.replace("_", " "), "number", "charged"), rows))
    rows = [
        (_times(line), line["kind"], dollars_text(line["amount_usd"]), line["description"], line["reason"])
        for line in answer["lines"]
    ]
    results.print(table_of(("time", "kind", "amount", "what", "why not more"), rows))


def _times(line: dict[str, Any]) -> str:
    """The time of a line; of a reservation, which is charged in parts, from the first to the last."""
    first, last = line.get("start_time"), line["time"]
    return f"{first} to {last}" if first and first != last else str(last)


grants = typer.Typer(
    help="Credit that was granted.",
    epilog=examples("wavepool grants", "wavepool grants add acct_01J… 5 -m welcome --expires 2027-01-01"),
)
budgets = typer.Typer(
    help="Limits for what may be charged in a period.",
    epilog=examples("wavepool budgets", "wavepool budgets set account acct_01J… month 20"),
)


@grants.callback(invoke_without_command=True)
def list_grants(
    context: typer.Context,
    *,
    account: AccountOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Credit that was granted; without a subcommand, lists an account's grants with what is left of each."""
    if context.invoked_subcommand is not None:
        return
    with MoneyClient(endpoint, token) as money:
        found = money.grants(account)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["create_time"],
            dollars_text(one["amount_usd"]),
            dollars_text(one["remaining_usd"]),
            one["expire_time"] or "never",
            one["description"],
        )
        for one in found
    ]
    results.print(table_of(("time", "granted", "left", "expires", "what"), rows))


@grants.command("add")
def add_grant(
    account: AccountArgument,
    dollars: DollarsArgument,
    *,
    description: WhyOption = "",
    expires: Annotated[str, typer.Option(metavar="DATE", help="When the rest lapses (UTC); none: never.")] = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Grant credit to an account."""
    with MoneyClient(endpoint, token) as money:
        _say_credit(money.grant(account, dollars, description, instant_of(expires)), as_json=as_json)


@grants.command("revoke")
def revoke_grant(
    account: AccountArgument,
    dollars: DollarsArgument,
    *,
    description: WhyOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take credit back that is neither spent nor on hold."""
    with MoneyClient(endpoint, token) as money:
        _say_credit(money.revoke(account, dollars, description), as_json=as_json)


@grants.command("refund")
def refund(
    hold: Annotated[str, typer.Argument(metavar="HOLD", help="The hold whose charge is given back.")],
    dollars: DollarsArgument,
    *,
    description: WhyOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a charge back, in whole or in part."""
    with MoneyClient(endpoint, token) as money:
        _say_credit(money.refund(hold, dollars, description), as_json=as_json)


class Scope(StrEnum):
    """The kind of thing that a budget limits."""

    ACCOUNT = "account"
    USER = "user"
    QUEUE = "queue"


class Period(StrEnum):
    """The time after which a budget begins anew, in UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    TOTAL = "total"


@budgets.callback(invoke_without_command=True)
def list_budgets(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Limits for what may be charged in a period; without a subcommand, lists them with what is spent of each."""
    if context.invoked_subcommand is not None:
        return
    with MoneyClient(endpoint, token) as money:
        found = money.budgets()
    if as_json:
        print_json(found)
        return
    rows = [
        (
            one["id"],
            f"{one['scope'].lower()} {one['subject_name']}",
            one["period"].lower(),
            dollars_text(one["limit_usd"]),
            dollars_text(one["spent_usd"]),
            "hard" if one["hard"] else "soft",
        )
        for one in found
    ]
    results.print(table_of(("id", "of", "period", "limit", "spent", "kind"), rows))


@budgets.command("set")
def set_budget(
    scope: Annotated[Scope, typer.Argument(help="What is limited.")],
    subject: Annotated[str, typer.Argument(metavar="ID", help="The account's or user's id or name; the queue's name.")],
    period: Annotated[Period, typer.Argument(help="It begins anew with each, in UTC.")],
    dollars: DollarsArgument,
    *,
    soft: Annotated[bool, typer.Option("--soft", help="Only show it; refuse nothing.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set a budget, in place of the one with the same scope, id and period."""
    budget = {
        "scope": scope.upper(),
        "subject": subject,
        "period": period.upper(),
        "limit_usd": dollars,
        "hard": not soft,
    }
    with MoneyClient(endpoint, token) as money:
        budget_id = money.set_budget(budget)
    if as_json:
        print_json({"id": budget_id})
    else:
        say(f"budget {budget_id}")


@budgets.command("remove")
def remove_budget(
    budget: Annotated[str, typer.Argument(metavar="ID", help="A budget's id, as `wavepool budgets` lists them.")],
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a budget."""
    with MoneyClient(endpoint, token) as money:
        money.remove_budget(budget)
    if as_json:
        print_json({"removed": budget})


def show_report(answer: dict[str, Any]) -> None:
    """Prints the operator's report of cost and charge."""
    sums = [(name, dollars_text(answer.get(f"{name}_usd"))) for name in ("cost", "charged", "overhead")]
    cloud = [(f"cloud {name}", dollars_text(answer.get(f"cloud_{name}_usd"))) for name in ("granted", "remaining")]
    results.print(table_of(("", ""), [*sums, *cloud]))
    for field, title in (("costs", "cost"), ("overheads", "overhead")):
        rows = [(part["reason"], dollars_text(part["amount_usd"])) for part in answer.get(field, ())]
        results.print(table_of((f"{title} by reason", ""), rows))
    names = ("charged_usd", "use_usd", "overhead_usd")
    rows = [(one["account_name"], *(dollars_text(one[name]) for name in names)) for one in answer.get("accounts", ())]
    results.print(table_of(("account", "charged", "cost of use", "share of overhead"), rows))


def show_proof(answer: dict[str, Any]) -> None:
    """Prints the result of a verification; exits with status 1 if the books are not right."""
    results.print(
        table_of(("", ""), [(name, answer.get(name)) for name in ("transactions", "postings", "last_digest")])
    )
    for fault in answer.get("faults", ()):
        say(fault)
    if not answer.get("right"):
        raise typer.Exit(1)
    say("the books are right")


def _say_credit(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        say(f"{dollars_text(answer.get('available_usd'))} is available")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from error


def _month(month: str) -> tuple[str, str]:
    try:
        first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(f"--month: {month!r} is no month; write it as 2026-11") from error
    last_month = 12
    is_last = first.month == last_month
    after = first.replace(year=first.year + is_last, month=1 if is_last else first.month + 1)
    return first.isoformat(), after.isoformat()


def instant_of(text: str) -> str:
    """A date or instant in ISO 8601; a date is its midnight in UTC."""
    if not text:
        return ""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no date; write it as 2026-11-26 or 2026-11-26T12:00:00Z") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()
