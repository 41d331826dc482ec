from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import prices_pb2 as pb

from servicekit.db.database import Database
from servicekit.rpc.errors import rpc_failure
from services.billing.config import BillingSettings
from services.billing.server import prepare
from services.billing.service.billing_service import Stores
from vocabulary.gpu_types import GPU_TYPES

if TYPE_CHECKING:
    from wavepool.billing.v1.prices_pb2_grpc import PriceServiceAsyncStub


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the store cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


def instant(**later: float) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromDatetime(datetime.now(UTC) + timedelta(**later))
    return timestamp


async def listed(prices: PriceServiceAsyncStub) -> dict[str, int]:
    answer = await prices.ListPrices(pb.ListPricesRequest())
    return {price.gpu_type: price.price_micros_per_hour for price in answer.prices}


async def test_the_price_list_has_every_gpu_type_that_may_be_asked_for(prices: PriceServiceAsyncStub) -> None:
    assert list((await listed(prices)).items()) == [(gpu_type, 1_990_000) for gpu_type in GPU_TYPES]


async def test_a_new_price_counts_without_a_restart(prices: PriceServiceAsyncStub) -> None:
    request = pb.SetPriceRequest(gpu_type="mi300x", price_micros_per_hour=2_500_000, currency="USD")
    period = (await prices.SetPrice(request)).period
    assert (period.price.gpu_type, period.source) == ("MI300X", pb.PRICE_SOURCE_ADMINISTRATOR)
    assert await listed(prices) == dict.fromkeys(GPU_TYPES, 1_990_000) | {"MI300X": 2_500_000}
    assert (await prices.GetQuote(pb.GetQuoteRequest())).hour_micros == 2_500_000


async def test_a_planned_price_does_not_count_yet(prices: PriceServiceAsyncStub) -> None:
    request = pb.SetPriceRequest(gpu_type="MI300X", price_micros_per_hour=2_500_000, start_time=instant(days=1))
    await prices.SetPrice(request)
    assert (await listed(prices))["MI300X"] == 1_990_000
    history = (await prices.ListPricePeriods(pb.ListPricePeriodsRequest(gpu_type="mi300x"))).periods
    assert [period.price.price_micros_per_hour for period in history] == [2_500_000, 1_990_000]
    assert history[1].price.end_time == request.start_time


async def test_spot_prices_are_listed_apart(prices: PriceServiceAsyncStub) -> None:
    await prices.SetPrice(pb.SetPriceRequest(gpu_type="MI210", price_micros_per_hour=700_000, spot=True))
    answer = await prices.ListPrices(pb.ListPricesRequest())
    assert [(price.gpu_type, price.price_micros_per_hour) for price in answer.spot_prices] == [("MI210", 700_000)]
    assert (await listed(prices))["MI210"] == 1_990_000


async def test_a_quote_has_the_price_the_hold_and_the_hour(prices: PriceServiceAsyncStub) -> None:
    duration = Duration(seconds=426, nanos=830_000_000)
    answer = await prices.GetQuote(pb.GetQuoteRequest(gpu_types=["mi300x"], duration=duration))
    assert (answer.price_micros, answer.hold_micros, answer.hour_micros) == (235_943, 497_500, 1_990_000)
    assert (answer.duration, answer.longest_run) == (duration, Duration(seconds=900))


SET = {"gpu_type": "MI300X", "price_micros_per_hour": 2_000_000}


@pytest.mark.parametrize(
    ("method", "request_", "field", "said"),
    [
        ("SetPrice", pb.SetPriceRequest(price_micros_per_hour=1), "gpu_type", "must be one of MI300X"),
        ("SetPrice", pb.SetPriceRequest(gpu_type="MI300X"), "price_micros_per_hour", "must be given; 0 makes it free"),
        ("SetPrice", pb.SetPriceRequest(**(SET | {"gpu_type": "MI30X"})), "gpu_type", "the nearest is MI300X"),
        ("SetPrice", pb.SetPriceRequest(**(SET | {"price_micros_per_hour": -1})), "price_micros_per_hour", "negative"),
        (
            "SetPrice",
            pb.SetPriceRequest(**(SET | {"price_micros_per_hour": 2**63 - 1})),
            "price_micros_per_hour",
            "must be at most $1,000,000.00; it is $9,223,372,036,854.775807",
        ),
        ("SetPrice", pb.SetPriceRequest(**SET, currency="EUR"), "currency", "must be USD; it is 'EUR'"),
        ("SetPrice", pb.SetPriceRequest(**SET, minimum_billed=Duration(seconds=-1)), "minimum_billed", "from 0"),
        ("SetPrice", pb.SetPriceRequest(**SET, billing_increment=Duration()), "billing_increment", "more than 0"),
        ("SetPrice", pb.SetPriceRequest(**SET, start_time=Timestamp(seconds=1)), "start_time", "not be in the past"),
        ("SetPrice", pb.SetPriceRequest(**SET, end_time=Timestamp(seconds=1)), "end_time", "after start_time"),
        ("SetPrice", pb.SetPriceRequest(**SET, start_time=Timestamp(nanos=-1)), "start_time", "not an instant"),
        ("ListPricePeriods", pb.ListPricePeriodsRequest(gpu_type="H100"), "gpu_type", "must be one of MI300X"),
        ("GetQuote", pb.GetQuoteRequest(gpu_types=["MI300X", "x"]), "gpu_type", "must be one of MI300X"),
        ("GetQuote", pb.GetQuoteRequest(duration=Duration(seconds=-1)), "duration", "more than 0"),
    ],
)
async def test_bad_input_names_its_field_and_changes_nothing(
    prices: PriceServiceAsyncStub, method: str, request_: Any, field: str, said: str
) -> None:
    before = await prices.ListPricePeriods(pb.ListPricePeriodsRequest())
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await getattr(prices, method)(request_)
    failure = rpc_failure(error.value)
    assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
    ((named, description),) = failure.violations
    assert (named, said in description) == (field, True), description
    assert await prices.ListPricePeriods(pb.ListPricePeriodsRequest()) == before


async def test_an_overlap_is_a_conflict(prices: PriceServiceAsyncStub) -> None:
    await prices.SetPrice(pb.SetPriceRequest(**SET, start_time=instant(days=2)))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await prices.SetPrice(pb.SetPriceRequest(**SET, start_time=instant(days=1)))
    assert error.value.code() == grpc.StatusCode.ALREADY_EXISTS


async def test_the_settings_prices_are_taken_at_the_start_and_one_set_by_hand_stands(
    db: Database,
    stores: Stores,
    settings: BillingSettings,
    prices: PriceServiceAsyncStub,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await prices.SetPrice(pb.SetPriceRequest(gpu_type="MI210", price_micros_per_hour=700_000))
    await prepare(db, stores, settings.model_copy(update={"hourly_rates": {"MI250X": 2, "MI210": 3}}))
    assert await listed(prices) == {"MI300X": 1_990_000, "MI300A": 1_990_000, "MI250X": 2_000_000, "MI210": 700_000}
    assert "a price that an administrator set stands, and the settings have another" in caplog.messages
