"""Messages made from objects whose attributes have the names of the fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import pytest
from wavepool.billing.v1 import alerts_pb2, billing_pb2, prices_pb2

from servicekit.rpc.proto_of import proto_of

NOON = datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC)


class Outcome(StrEnum):
    DELIVERED = "delivered"
    ELSEWHERE = "elsewhere"


@dataclass
class Delivery:
    outcome: Outcome = Outcome.DELIVERED
    channel: str = "mail"
    attempts: int = 2
    time: datetime | None = NOON
    failure: str = ""


@dataclass
class Transition:
    deliveries: tuple[Delivery, ...]
    labels: dict[str, str]


@dataclass
class Price:
    gpu_type: str = "MI300X"
    price_micros_per_hour: int = 7
    minimum_billed: timedelta = timedelta(seconds=1.5)
    billing_increment: timedelta = timedelta(0)
    start_time: datetime = NOON
    end_time: datetime | None = None


def test_each_field_is_converted_by_its_kind() -> None:
    made = proto_of(prices_pb2.Price, Price())
    assert (made.gpu_type, made.price_micros_per_hour) == ("MI300X", 7)
    assert made.minimum_billed.ToTimedelta() == timedelta(seconds=1.5)
    assert made.HasField("billing_increment")
    assert made.start_time.ToDatetime(tzinfo=UTC) == NOON
    assert not made.HasField("end_time")


def test_enum_members_and_objects_within_are_converted_too() -> None:
    source = Transition((Delivery(), Delivery(time=None)), {"queue": "default"})
    rest = dict.fromkeys(("transition_id", "alert_id", "rule", "severity", "event", "summary", "value", "time"))
    made = proto_of(alerts_pb2.AlertTransition, source, **rest)
    assert made.labels == {"queue": "default"}
    assert [one.outcome for one in made.deliveries] == [alerts_pb2.DELIVERY_OUTCOME_DELIVERED] * 2
    assert [one.HasField("time") for one in made.deliveries] == [True, False]


def test_what_is_given_comes_before_the_sources_and_the_first_source_before_the_next() -> None:
    made = proto_of(prices_pb2.Price, Price(gpu_type="one"), Price("two", 9), price_micros_per_hour=8)
    assert (made.gpu_type, made.price_micros_per_hour) == ("one", 8)


def test_a_field_without_a_source_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"wavepool\.billing\.v1\.Budget\.budget_id"):
        proto_of(billing_pb2.Budget)


def test_a_given_name_that_is_no_field_is_an_error() -> None:
    with pytest.raises(AttributeError, match="Price has no field gpu"):
        proto_of(prices_pb2.Price, Price(), gpu="MI300X")


def test_a_member_that_the_proto_does_not_know_is_an_error() -> None:
    with pytest.raises(ValueError, match="DELIVERY_OUTCOME_ELSEWHERE"):
        proto_of(alerts_pb2.AlertDelivery, Delivery(Outcome.ELSEWHERE))
