"""The rules that are built in for the readings of the scheduler and vmpool: those of `built_in.toml`."""

from __future__ import annotations

from pathlib import Path

from services.billing.alert_rules.rule import Rule
from services.billing.alert_rules.rule_file import rules_in

BUILT_IN = Path(__file__).with_name("built_in.toml")


def platform_rules() -> list[Rule]:
    """The built-in rules about machines, jobs, queues and reservations."""
    return rules_in(BUILT_IN.read_text("utf-8"))
