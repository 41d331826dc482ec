from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import InvalidFieldError
from services.billing.ledger.machine_usage import MachineUsage, check_usage
from vocabulary.money import Tariff

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FIRST = MachineUsage(
    "m1", 1, "hotaisle", "MI300X", 1, START, START + MINUTE, 1_990_000, final=False, machine_start_time=START
)


@given(
    steps=st.lists(st.timedeltas(timedelta(0), timedelta(hours=5)), min_size=1, max_size=15),
    minimum=st.timedeltas(timedelta(0), timedelta(hours=3)),
    increment=st.timedeltas(timedelta(microseconds=1), timedelta(hours=2)),
)
def test_the_intervals_of_a_machine_add_up_to_what_the_machine_costs(
    steps: list[timedelta], minimum: timedelta, increment: timedelta
) -> None:
    end, total = START, 0
    for step in steps:
        usage = replace(FIRST, start_time=end, end_time=end + step, minimum_billed=minimum, billing_increment=increment)
        assert usage.cost_micros >= 0
        end, total = end + step, total + usage.cost_micros
    assert total == Tariff(1_990_000, minimum, increment).cost_micros(end - START)


def test_the_first_minute_of_a_machine_with_a_minimum_costs_all_of_it() -> None:
    hourly = replace(FIRST, minimum_billed=timedelta(hours=1))
    assert hourly.cost_micros == 1_990_000
    second = replace(hourly, start_time=START + MINUTE, end_time=START + 2 * MINUTE)
    assert second.cost_micros == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("machine_start_time", START + MINUTE),
        ("minimum_billed", -MINUTE),
        ("billing_increment", timedelta(0)),
        ("billing_increment", timedelta(days=10_000)),
    ],
)
def test_a_tariff_that_makes_no_sense_is_refused_by_its_field(field: str, value: object) -> None:
    with pytest.raises(InvalidFieldError, match=field):
        check_usage(replace(FIRST, **{field: value}))
