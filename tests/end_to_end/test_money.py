"""A second user spends all they have, and every micro-dollar of it and of the machine is explained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.invocation import wavepool as command
from tests.end_to_end.wavepool_processes import Wavepool, reference, start, until
from vocabulary.money import dollars_text

pytestmark = pytest.mark.slow

HOLD_USD = 0.4975
"""The price of 15 minutes at $1.99 an hour."""


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool whose machine on this host costs $3.60 an hour and is reported every second."""
    running = start(tmp_path_factory.mktemp("priced"), VMPOOL_LOCAL_HOURLY_RATE="3.6", VMPOOL_USAGE_INTERVAL="1")
    yield running
    running.stop()


def micros(usd: float) -> int:
    return round(usd * 1_000_000)


@pytest.fixture
def ask(priced: Wavepool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command with a token; gives its JSON, or its exit status and message."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(token: str, *words: str) -> Any:
        done = command(*words, "--json", "--endpoint", priced.endpoint, "--token", token)
        return json.loads(done.out) if done.status == 0 and done.out else (done.status, done.err)

    return run


def test_a_user_spends_all_reads_the_refusal_is_topped_up_and_the_books_explain_it(
    priced: Wavepool, ask: Any, tmp_path: Path
) -> None:
    admin = (priced.data_dir / "token").read_text().strip()
    ask(admin, "accounts", "create", "ada", "--grant", "0.5")
    ada = ask(admin, "tokens", "create", "laptop", "--user", "ada")["token"]
    (tmp_path / "leaky.hip").write_text(reference("leaky-relu"))
    submit = ("submit", str(tmp_path / "leaky.hip"), "--problem", "leaky-relu", "--mode", "check")

    runs = 0
    while isinstance(outcome := ask(ada, *submit), dict):
        assert outcome["verdict"] == "ACCEPTED"
        runs += 1
    left = 0.5 - ask(ada, "costs")["charged_usd"]
    missing = dollars_text(micros(HOLD_USD) - micros(left))
    assert (
        f"1 GPU for 15 min needs ${HOLD_USD}, and {dollars_text(micros(left))} is available: {missing} is missing. "
        f"Add credit; or ask for at most "
    ) in outcome[1]
    account_id = ask(ada, "statement")["account_id"]
    assert ask(ada, "grants", "add", account_id, "5")[0] != 0
    topped_up = ask(admin, "grants", "add", account_id, "0.5", "-m", "a top-up")
    assert micros(topped_up["available_usd"]) == micros(left + 0.5)
    assert ask(ada, *submit)["verdict"] == "ACCEPTED"

    statement = ask(ada, "statement")
    lines = [(line["kind"], micros(line["amount_usd"])) for line in statement["lines"]]
    assert [kind for kind, _ in lines] == ["GRANT", *["CHARGE"] * runs, "GRANT", "CHARGE"]
    assert micros(statement["closing_usd"]) == sum(amount for _, amount in lines)
    assert statement["by_problem"][0]["works"] == runs + 1
    own = ask(admin, "statement")
    assert [line["kind"] for line in own["lines"]] == ["GRANT"]
    assert ask(ada, "statement", "--account", own["account_id"])[0] != 0
    check_report(ask, admin, -sum(amount for kind, amount in lines if kind == "CHARGE"))


def check_report(ask: Any, admin: str, charged: int) -> None:
    report = until(lambda: reported(ask(admin, "costs", "--report"), "ada"), "the report of all runs", 60)
    assert micros(report["charged_usd"]) == charged
    assert micros(report["overhead_usd"]) == micros(report["cost_usd"]) - charged + micros(report["surplus_usd"])
    for parts, whole in (("costs", "cost_usd"), ("overheads", "overhead_usd")):
        assert sum(micros(part["amount_usd"]) for part in report[parts]) == micros(report[whole])
    assert {part["reason"] for part in report["costs"]} >= {"provisioning", "use"}
    # The machine goes on costing between the two readings.
    assert micros(report["cloud_remaining_usd"]) <= 1_400_000_000 - micros(report["cost_usd"])
    proof = ask(admin, "costs", "--verify")
    assert (proof["right"], proof["faults"]) == (True, [])


def reported(report: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The report, once what both runs cost is in it: the machine is dearer than the user's price."""
    (account,) = [one for one in report["accounts"] if one["account_name"] == name] or [{"use_usd": 0}]
    return report if account["use_usd"] > account.get("charged_usd", 0) else None
