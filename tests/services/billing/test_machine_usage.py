from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import Book
from services.billing.ledger.machine_usage import MachineUsage, Use, check_usage, split
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


def reasons(usage: MachineUsage) -> dict[str, int]:
    return {line.subject if line.book is Book.USE else line.book.value: line.amount_micros for line in usage.postings()}


def test_an_interval_is_booked_by_reason() -> None:
    # A machine of two GPUs at $7.20 an hour, so 1,000 micro-dollars a GPU and second: ready after 10 s, and then one
    # GPU is leased for 30 s and half of the other for 40 s.
    usage = replace(
        FIRST,
        gpu_count=2,
        price_micros_per_hour=7_200_000,
        ready_time=START + timedelta(seconds=10),
        uses=(Use("job_1:1", timedelta(seconds=30)), Use("job_2:3", timedelta(seconds=20))),
    )
    assert reasons(usage) == {
        "cloud_credit": -120_000,
        "provisioning": 20_000,
        "idle": 50_000,
        "job_1:1": 30_000,
        "job_2:3": 20_000,
    }


def test_a_machine_that_is_not_ready_is_provisioning_and_the_rest_of_its_minimum_is_overhead() -> None:
    usage = replace(FIRST, price_micros_per_hour=3_600_000, minimum_billed=timedelta(hours=1))
    assert reasons(usage) == {"cloud_credit": -3_600_000, "provisioning": 60_000, "minimum": 3_540_000}
    second = replace(usage, start_time=START + MINUTE, end_time=START + 2 * MINUTE, ready_time=START)
    assert reasons(second) == {"idle": 60_000, "minimum": -60_000}


def test_known_costs_are_as_people_compute_them() -> None:
    """At $1.99 an hour: a cold start of 2 to 5 minutes is $0.07 to $0.17, and so are 5 idle minutes."""
    starts = [reasons(replace(FIRST, end_time=START + minutes * MINUTE))["provisioning"] for minutes in (2, 5)]
    assert starts == [66_334, 165_834]
    idle = replace(FIRST, ready_time=START, end_time=START + 5 * MINUTE)
    assert reasons(idle)["idle"] == 165_834
    run = replace(FIRST, ready_time=START, end_time=START + timedelta(seconds=426.83))
    assert reasons(run)["idle"] == 235_943


@given(
    price=st.integers(0, 10**8),
    gpus=st.integers(1, 8),
    end=st.timedeltas(timedelta(0), timedelta(hours=5)),
    ready=st.timedeltas(timedelta(0), timedelta(hours=5)) | st.none(),
    uses=st.lists(st.timedeltas(timedelta(0), timedelta(hours=9)), max_size=6),
    minimum=st.timedeltas(timedelta(0), timedelta(hours=3)),
)
def test_the_books_of_an_interval_always_sum_to_its_cost(
    price: int,
    gpus: int,
    end: timedelta,
    ready: timedelta | None,
    uses: list[timedelta],
    minimum: timedelta,
) -> None:
    usage = replace(
        FIRST,
        gpu_count=gpus,
        price_micros_per_hour=price,
        end_time=START + end,
        ready_time=None if ready is None else START + ready,
        uses=tuple(Use(f"job_{number}:1", time) for number, time in enumerate(uses)),
        minimum_billed=minimum,
    )
    lines = usage.postings()
    assert sum(line.amount_micros for line in lines) == 0
    assert sum(line.amount_micros for line in lines if line.book is Book.CLOUD_CREDIT) == -usage.cost_micros
    assert all(line.amount_micros > 0 for line in lines if line.book is not Book.CLOUD_CREDIT)


@given(st.integers(-(10**12), 10**12), st.lists(st.integers(0, 10**9), max_size=8))
def test_a_split_sums_to_the_whole_and_is_fair_to_one_part(amount: int, weights: list[int]) -> None:
    parts = split(amount, weights)
    assert sum(parts) == (amount if any(weights) else 0)
    assert all(
        abs(part * sum(weights) - amount * weight) <= sum(weights) for part, weight in zip(parts, weights, strict=True)
    )


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
