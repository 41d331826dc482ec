from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway


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
