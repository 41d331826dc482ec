"""`wavepool alerts`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any

import typer

from wavepool_client.commands.options import Gateway, Group, Shown
from wavepool_client.exit_codes import ExitCode
from wavepool_client.terminal.result_printing import listing
from wavepool_client.text.columns import written

PAGE_SIZE = 100

app = Group(
    "Alerts: current and past ones, their rules, and the channels that send them.",
    "wavepool alerts",
    "wavepool alerts history -n 20",
    "wavepool alerts rules --json | jq '.rules[].name'",
    "wavepool alerts test ops",
)

AccountOption = Annotated[
    str, typer.Option("--account", metavar="ID", help="Only this account's alerts; for operators.")
]


@app.lists()
def list_alerts(gateway: Gateway, *, account: AccountOption = "") -> Shown:
    """List the alerts that are firing or pending, newest first: an account's own; operators see all."""
    active = gateway.ask("GET", "alerts", account_id=account)["alerts"]
    yield active
    if not active:
        yield "no alert is active"
        return
    columns = {"rule": "rule", "severity": "severity", "state": _phase, "since": written("since"), "what": "summary"}
    yield listing(active, columns)


@app.answers("history")
def history(
    gateway: Gateway,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most entries to show.")] = 50,
    account: AccountOption = "",
) -> Shown:
    """List past changes of alerts, newest first, and whether each message was delivered."""
    newest_first = gateway.listed("transitions", "alerts", "history", page_size=PAGE_SIZE, account_id=account)
    transitions = list(islice(newest_first, limit))
    yield transitions
    as_they_are = {name: name for name in ("event", "severity", "rule")}
    yield listing(transitions, {"time": written("time"), **as_they_are, "what": "summary", "messages": _deliveries})


@app.answers("rules")
def rules(gateway: Gateway) -> Shown:
    """List the rules in force, and for an operator the channels."""
    listed = gateway.ask("GET", "alerts", "rules")
    yield listed
    columns = {"rule": "name", "severity": "severity", "fires when": _condition}
    yield listing(listed["rules"], {**columns, "last reading": written("last_reading_time")})
    for channel in listed.get("channels", ()):
        yield f"channel {channel['name']} ({channel['kind']}) gets {channel['least_severity']} and above"


@app.answers("test")
def try_channel(
    gateway: Gateway,
    channel: Annotated[str, typer.Argument(help="A configured channel. Default: every channel.")] = "",
) -> Shown:
    """Send a test message and show whether it was delivered; exits with 3 if a channel failed."""
    deliveries = gateway.ask("POST", "alerts", "test", body={"channel": channel})["deliveries"]
    try:
        yield deliveries
        for one in deliveries:
            yield f"{one['channel']}: {'delivered' if one['delivered'] else one['failure']}"
    finally:
        if not all(one["delivered"] for one in deliveries):
            raise typer.Exit(ExitCode.UNAVAILABLE)


def _phase(alert: Mapping[str, Any]) -> str:
    return f"{alert.get('phase', '')}{', no data' if alert.get('no_data') else ''}"


def _condition(rule: Mapping[str, Any]) -> str:
    condition = f"{rule.get('reading')} {rule.get('comparison')} {rule.get('threshold'):g}"
    lasting = rule.get("for_seconds") or 0
    return f"{condition} for {lasting:g} s" if lasting else condition


def _deliveries(transition: Mapping[str, Any]) -> str:
    said = (
        f"{one['channel']} {one['outcome'].lower()}{': ' if one['failure'] else ''}{one['failure']}"
        for one in transition.get("deliveries") or ()
    )
    return ", ".join(said)
