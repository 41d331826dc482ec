from __future__ import annotations

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool


def test_costs_are_shown(gateway: ScriptedGateway) -> None:
    costs = {
        "account_name": "local",
        "available_usd": 1399.5,
        "charged_usd": 0.5,
        "alert_threshold_pct": 80.0,
        "alert_fired": False,
        "postings": [{"kind": "CHARGE", "amount_usd": -8e-06, "description": "job job_1, attempt 1"}],
    }
    gateway.on("GET", "/api/v1/costs", Answer(costs))
    out = wavepool("costs", "--endpoint", gateway.endpoint).out
    assert all(text in out for text in ("$1,399.500000", "$0.500000", "-$0.000008", "80 %", "not reached")), out
    assert wavepool("costs", "--json", "--endpoint", gateway.endpoint).json == costs


def test_limits_are_shown(gateway: ScriptedGateway) -> None:
    limits = {
        "remaining_submissions": 2,
        "jobs_in_flight": 18,
        "max_jobs_in_flight": 20,
        "submissions_in_last_hour": 30,
        "max_submissions_per_hour": 3600,
        "renew_after_seconds": 59.5,
    }
    gateway.on("GET", "/api/v1/limits", Answer(limits))
    rows = [line.split() for line in wavepool("limits", "--endpoint", gateway.endpoint).out.splitlines()]
    assert ["possible", "now", "2", "-", "-"] in rows
    assert ["jobs", "in", "flight", "18", "20", "-"] in rows
    assert ["submissions", "in", "the", "last", "hour", "30", "3600", "-"] in rows
    assert wavepool("limits", "--json", "--endpoint", gateway.endpoint).json == limits
    gateway.only("GET", "/api/v1/limits", Answer(limits | {"max_submissions_per_hour": 30}))
    assert "one more in 60 s" in wavepool("limits", "--endpoint", gateway.endpoint).out
    gateway.only("GET", "/api/v1/limits", Answer(limits | {"max_submissions_per_hour": None}))
    rows = [line.split() for line in wavepool("limits", "--endpoint", gateway.endpoint).out.splitlines()]
    assert ["submissions", "in", "the", "last", "hour", "30", "none", "-"] in rows
