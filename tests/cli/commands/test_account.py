from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway


def test_machines_are_listed(gateway: ScriptedGateway) -> None:
    machine = {"id": "mach_1", "state": "WARM", "device_title": "AMD EPYC", "cost_usd": 0.5}
    gateway.on("GET", "/api/v1/machines", Answer({"machines": [machine]}))
    assert "mach_1" in wavepool("machines", "--endpoint", gateway.endpoint).out
    assert wavepool("machines", "--json", "--endpoint", gateway.endpoint).json == [machine]


def test_costs_are_shown(gateway: ScriptedGateway) -> None:
    costs = {"account_name": "local", "available_usd": 1399.5, "charged_usd": 0.5}
    gateway.on("GET", "/api/v1/costs", Answer(costs))
    assert "1399.5" in wavepool("costs", "--endpoint", gateway.endpoint).out
    assert wavepool("costs", "--json", "--endpoint", gateway.endpoint).json == costs
