from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway


def test_costs_are_shown(gateway: ScriptedGateway) -> None:
    costs = {"account_name": "local", "available_usd": 1399.5, "charged_usd": 0.5}
    gateway.on("GET", "/api/v1/costs", Answer(costs))
    assert "1399.5" in wavepool("costs", "--endpoint", gateway.endpoint).out
    assert wavepool("costs", "--json", "--endpoint", gateway.endpoint).json == costs
