from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway

PATH = "/api/v1/billing/projections"
FOUND: dict[str, Any] = {
    "assumptions": {
        "gpu_type": "MI300X",
        "price_usd_per_hour": 1.99,
        "minimum_billed_seconds": 0.0,
        "cold_start_seconds": 210.0,
        "run_seconds": 28.0,
        "idle_timeout_seconds": 300.0,
        "warm_share": 0.9362,
        "grant_usd": 1400.0,
        "days_per_month": 30,
    },
    "scenarios": [
        {
            "tasks_per_day": 10,
            "cases": [
                {"reuse": "NONE", "warm_share": 0, "task_usd": 0.131562, "month_usd": 39.47, "grant_months": 35.5},
                {"reuse": "SITTINGS", "warm_share": 0.94, "task_usd": 0.0658, "month_usd": 19.75, "grant_months": None},
            ],
        }
    ],
    "circulating": [{"tasks_per_day": 10, "month_low_usd": 15.0, "month_high_usd": 30.0, "grant_months": 8}],
    "left_out": ["8 months at $30.00 are $240.00."],
    "history": {"days": 3, "least_days": 7, "remaining_usd": 1000.0, "month": None, "task_costs": None},
}
HISTORY: dict[str, Any] = {
    "days": 30,
    "least_days": 7,
    "remaining_usd": 60.0,
    "month": {"low_usd": 20.0, "middle_usd": 25.0, "high_usd": 30.0},
    "months_left_low": 2.0,
    "months_left_high": 3.0,
    "task_costs": {
        "tasks": 47,
        "cold_tasks": 3,
        "spent_usd": 5.25,
        "mean_usd": 0.1117,
        "cold_usd": 0.96986,
        "warm_usd": 0.05319,
    },
}


def test_scenarios_are_shown_with_assumptions_and_claims(gateway: ScriptedGateway) -> None:
    gateway.on("GET", PATH, Answer(FOUND))
    out = wavepool("projections", "--endpoint", gateway.endpoint).out
    for words in (
        "MI300X at $1.990000 an hour, a cold start of 210 s, runs of 28 s, an idle timeout of 300 s, 94 % of",
        "a grant of $1,400.000000",
        "$15.00 to $30.00, 8 months",
        "for ever",
        "- 8 months at $30.00 are $240.00.",
        "A range needs 7 whole days, and there are 3.",
    ):
        assert words in out, out
    assert wavepool("projections", "--json", "--endpoint", gateway.endpoint).json == FOUND


def test_the_days_that_were_are_told_in_sentences(gateway: ScriptedGateway) -> None:
    gateway.on("GET", PATH, Answer(FOUND | {"history": HISTORY}))
    out = wavepool("projections", "--operator", "--endpoint", gateway.endpoint).out
    for words in (
        "From 30 days: a month costs $20.00 to $30.00 in four of five cases, and $25.00 in the middle.",
        "At that cost it lasts 2.0 months to 3.0 months.",
        "47 tasks cost $5.25, $0.1117 each: $0.9699 for each of 3 cold ones",
        "$0.0532 for a warm one.",
    ):
        assert words in out, out
    assert gateway.requests[-1].path == f"{PATH}?operator=true"


def test_the_gpu_type_is_an_option(gateway: ScriptedGateway) -> None:
    gateway.on("GET", PATH, Answer(FOUND))
    assert wavepool("projections", "--gpu", "MI210", "--endpoint", gateway.endpoint).status == 0
    assert gateway.requests[-1].path == f"{PATH}?gpu_type=MI210"
