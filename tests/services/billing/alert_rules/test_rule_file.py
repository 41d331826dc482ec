from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from services.billing.alert_rules.money import money_rules
from services.billing.alert_rules.rule import Comparison, Reading, Severity, summary_of
from services.billing.alert_rules.rule_file import rules_of

BUILT_IN = money_rules([0.8], None, None, 7)
NEW = {"name": "queue-long", "severity": "INFO", "reading": "queue.jobs", "comparison": ">", "threshold": 9}


def test_nothing_leaves_the_built_in_rules() -> None:
    assert rules_of("", BUILT_IN) == BUILT_IN


def test_a_rule_is_added() -> None:
    (rule,) = rules_of(json.dumps([{**NEW, "for_seconds": 60, "clear_threshold": 5}]), [])
    assert (rule.severity, rule.comparison, rule.clear_threshold) == (Severity.INFO, Comparison.ABOVE, 5)
    assert rule.for_duration == timedelta(minutes=1)
    reading = Reading("queue.jobs", 12, datetime(2026, 1, 1, tzinfo=UTC))
    assert summary_of(rule, reading) == "queue.jobs is 12; the limit is 9."


def test_a_built_in_rule_is_changed_by_name_and_keeps_the_rest() -> None:
    changed = rules_of('[{"name": "cloud-credit-spent-80", "severity": "CRITICAL"}]', BUILT_IN)
    before, after = ({rule.name: rule for rule in rules}["cloud-credit-spent-80"] for rules in (BUILT_IN, changed))
    assert (after.severity, after.threshold, after.summary) == (Severity.CRITICAL, 0.8, before.summary)


def test_a_built_in_rule_is_switched_off_by_name() -> None:
    left = rules_of('[{"name": "account-credit-ends-soon", "enabled": false}]', BUILT_IN)
    assert {rule.name for rule in BUILT_IN} - {rule.name for rule in left} == {"account-credit-ends-soon"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "x"}, "entry 0: severity: is missing, and no built-in rule is called 'x'"),
        ({"name": "Q u"}, "entry 0: name: must be 1 to 100 characters"),
        ({"name": "x", "enabled": False}, "entry 0: name: there is no rule 'x' to switch off"),
        ({**NEW, "threshold": "many"}, "entry 0: threshold: Input should be a valid number"),
        ({**NEW, "threshold": float("inf")}, "entry 0: threshold: "),
        ({**NEW, "severity": "LOUD"}, "entry 0: severity: Input should be 'INFO', 'WARNING' or 'CRITICAL'"),
        ({**NEW, "treshold": 1}, "entry 0: treshold: Extra inputs are not permitted"),
        ({**NEW, "clear_threshold": 10}, "entry 0: clear_threshold: must be at most the threshold 9"),
        ({**NEW, "comparison": "<", "clear_threshold": 8}, "entry 0: clear_threshold: must be at least"),
    ],
)
def test_a_wrong_rule_is_refused_with_entry_field_and_fix(entry: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said[:9]) as error:
        rules_of(json.dumps([entry]), BUILT_IN)
    assert str(error.value).startswith(said)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid JSON"):
        rules_of("[{", BUILT_IN)


def test_a_placeholder_that_nobody_knows_stays_and_reaches_nothing() -> None:
    rule = rules_of(json.dumps([{**NEW, "summary": "{value} {machine} {value.__class__} {0}"}]), [])[0]
    reading = Reading("queue.jobs", 12.5, datetime(2026, 1, 1, tzinfo=UTC))
    assert summary_of(rule, reading) == "12.5 {machine} {value.__class__} {0}"
