"""Prices and quotes over HTTP."""

from __future__ import annotations

import grpc
import pytest

from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_answers import PRICED_GPU_TYPES
from tests.gateway.scripted_services import ADMIN_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
PRICES, QUOTE = "/api/v1/prices", "/api/v1/quote"
NEW = {"gpu_type": "mi300x", "price_usd_per_hour": 2.29}


async def test_prices_are_listed_with_a_text_for_people(gateway: RunningGateway) -> None:
    listed = (await gateway.http.get(PRICES)).json()
    assert listed["currency"] == "USD"
    assert [(price["gpu_type"], price["spot"]) for price in listed["prices"]] == [
        *((gpu_type, False) for gpu_type in PRICED_GPU_TYPES),
        ("MI300X", True),
    ]
    assert [price["text"] for price in (listed["prices"][0], listed["prices"][-1])] == [
        "AMD MI300X (192GB, $1.99/hr)",
        "AMD MI300X (192GB, spot, $0.99/hr)",
    ]
    assert listed["prices"][0]["start_time"] == "2026-11-01T00:00:00Z"


async def test_the_history_names_who_set_a_price(gateway: RunningGateway) -> None:
    (period,) = (await gateway.http.get(f"{PRICES}/history?gpu_type=MI300X")).json()["periods"]
    assert (period["id"], period["source"], period["price_usd_per_hour"]) == ("price_1", "SETTINGS", 1.99)
    assert gateway.calls["ListPricePeriods"][-1].gpu_type == "MI300X"


async def test_an_administrator_sets_a_price(gateway: RunningGateway) -> None:
    body = NEW | {"start_time": "2027-01-01T01:00:00+01:00", "minimum_billed_seconds": 60, "replace_planned": True}
    answer = await gateway.http.post(PRICES, json=body, headers=ADMIN)
    assert (answer.status_code, answer.json()["price_usd_per_hour"]) == (201, 2.29)
    request = gateway.calls["SetPrice"][-1]
    assert (request.gpu_type, request.price_micros_per_hour, request.currency) == ("mi300x", 2_290_000, "USD")
    assert (request.start_time.ToJsonString(), request.minimum_billed.seconds) == ("2027-01-01T00:00:00Z", 60)
    assert (request.HasField("end_time"), request.HasField("billing_increment")) == (False, False)
    assert request.replace_planned


async def test_a_user_sets_no_price(gateway: RunningGateway) -> None:
    assert (await gateway.http.post(PRICES, json=NEW)).status_code == 403
    assert not gateway.calls["SetPrice"]


async def test_a_quote_is_in_dollars(gateway: RunningGateway) -> None:
    query = "gpu_type=MI300X&gpu_type=MI210&eighths=4&gpus=2&spot=true&duration_seconds=426.83"
    quote = (await gateway.http.get(f"{QUOTE}?{query}")).json()
    assert (quote["price_usd"], quote["hold_usd"], quote["minimum_usd"]) == (0.235943, 0.4975, 0.000001)
    assert (quote["duration_seconds"], quote["longest_run_seconds"]) == (426.83, 900)
    assert quote["lines"][0]["gpu_type"] == "MI300X"
    request = gateway.calls["GetQuote"][-1]
    assert (list(request.gpu_types), request.eighths, request.gpu_count, request.spot) == (
        ["MI300X", "MI210"],
        4,
        2,
        True,
    )
    assert request.duration.ToMilliseconds() == 426_830


async def test_a_quote_without_a_duration_asks_for_the_longest_run(gateway: RunningGateway) -> None:
    assert (await gateway.http.get(QUOTE)).status_code == 200
    assert not gateway.calls["GetQuote"][-1].HasField("duration")


async def test_offers_have_what_users_are_charged_beside_the_cost(gateway: RunningGateway) -> None:
    (offer,) = (await gateway.http.get("/api/v1/offers")).json()["offers"]
    assert (offer["price_usd_per_hour"], offer["charge_usd_per_hour"]) == (1.99, 1.99)


async def test_offers_are_listed_without_billing(gateway: RunningGateway) -> None:
    gateway.refusals["ListPrices"] = refusal(grpc.StatusCode.UNAVAILABLE, "gone")
    (offer,) = (await gateway.http.get("/api/v1/offers")).json()["offers"]
    assert (offer["price_usd_per_hour"], offer["charge_usd_per_hour"]) == (1.99, None)
