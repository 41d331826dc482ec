"""`wavepool alerts`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.alert_client import AlertClient
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, examples
from wavepool_client.exit_codes import ExitCode
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    help="What is wrong now, what was, and who is told.",
    epilog=examples(
        "wavepool alerts",
        "wavepool alerts history -n 20",
        "wavepool alerts rules --json | jq '.rules[].name'",
        "wavepool alerts test ops",
    ),
)

AccountOption = Annotated[
    str, typer.Option("--account", metavar="ID", help="Only this account's alerts; for operators.")
]


@app.callback(invoke_without_command=True)
def alerts(
    context: typer.Context,
    *,
    account: AccountOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Alerts: an account sees its own, an operator all; without a subcommand, lists those that are active."""
    if context.invoked_subcommand is None:
        list_alerts(account=account, endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_alerts(
    *,
    account: AccountOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the alerts that are firing or pending now, newest first."""
    with AlertClient(endpoint, token) as client:
        active = client.active(account)
    if as_json:
        print_json(active)
        return
    if not active:
        say("no alert is active")
        return
    rows = ((a.get("rule"), a.get("severity"), _phase(a), a.get("since"), a.get("summary")) for a in active)
    results.print(table_of(("rule", "severity", "state", "since", "what"), rows))


@app.command()
def history(
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show so many of the newest.")] = 50,
    account: AccountOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what happened to alerts, newest first, and what became of each message."""
    with AlertClient(endpoint, token) as client:
        transitions = list(islice(client.history(account), limit))
    if as_json:
        print_json(transitions)
        return
    rows = (
        (t.get("time"), t.get("event"), t.get("severity"), t.get("rule"), t.get("summary"), _deliveries(t))
        for t in transitions
    )
    results.print(table_of(("time", "event", "severity", "rule", "what", "messages"), rows))


@app.command()
def rules(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List the rules in force, and for an operator the channels."""
    with AlertClient(endpoint, token) as client:
        listed = client.rules()
    if as_json:
        print_json(listed)
        return
    rows = ((r.get("name"), r.get("severity"), _condition(r), r.get("last_reading_time")) for r in listed["rules"])
    results.print(table_of(("rule", "severity", "fires when", "last reading"), rows))
    for channel in listed.get("channels", ()):
        say(f"channel {channel['name']} ({channel['kind']}) is told from {channel['least_severity']} on")


@app.command("test")
def try_channel(
    channel: Annotated[str, typer.Argument(help="A channel of the settings; every channel if left out.")] = "",
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send a test message and say what became of it; exits with 3 if a channel did not take it."""
    with AlertClient(endpoint, token) as client:
        deliveries = client.test(channel)
    if as_json:
        print_json(deliveries)
    else:
        for one in deliveries:
            say(f"{one['channel']}: {'delivered' if one['delivered'] else one['failure']}")
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
