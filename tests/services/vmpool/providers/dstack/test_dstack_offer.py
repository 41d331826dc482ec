from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.config import Market
from services.vmpool.providers.dstack.offer import best_offers, offers_from_plan
from tests.services.vmpool.providers.dstack.dstack_words import MARKET, a_plan, an_offer, market


def offers(*listed: dict[str, Any], of: Market = MARKET) -> list[Offer]:
    return list(best_offers(offers_from_plan(a_plan(*listed), of), of))


def test_an_offer_has_price_place_and_tariff() -> None:
    (offer,) = offers(an_offer(backend="hotaisle", region="us-michigan-1", price=2.1))
    assert offer == Offer(
        provider="dstack",
        gpu_type="MI300X",
        gpu_count=1,
        price_micros_per_hour=2_100_000,
        backend="hotaisle",
        region="us-michigan-1",
        minimum_billed=timedelta(hours=2),
        billing_increment=timedelta(minutes=1),
    )


def test_the_cheapest_comes_first_and_then_the_settings_order() -> None:
    listed = [
        an_offer(backend="hotaisle", price=1.99),
        an_offer(backend="amddevcloud", price=1.99),
        an_offer(backend="amddevcloud", gpu="MI210", price=0.5),
    ]
    assert [(o.gpu_type, o.backend) for o in offers(*listed)] == [
        ("MI210", "amddevcloud"),
        ("MI300X", "amddevcloud"),
        ("MI300X", "hotaisle"),
    ]


def test_of_one_kind_the_available_one_is_shown_else_the_cheapest() -> None:
    sold_out = an_offer(price=1.0, availability="not_available")
    assert [(o.available, o.price_micros_per_hour) for o in offers(sold_out, an_offer(price=2.0))] == [
        (True, 2_000_000)
    ]
    assert [(o.available, o.price_micros_per_hour) for o in offers(sold_out)] == [(False, 1_000_000)]


def test_machines_that_somebody_has_are_no_offers() -> None:
    assert offers(an_offer(availability="busy")) == []


@pytest.mark.parametrize(
    ("allowed", "listed"),
    [
        (market(), an_offer(gpu="H100")),
        (market(), an_offer(gpus=8)),
        (market(), an_offer(gpus=0)),
        (market(), an_offer(spot=True)),
        (market(spot_policy=SpotPolicy.SPOT), an_offer(spot=False)),
        (market(max_price_micros_per_gpu_hour=1_989_999), an_offer(price=1.99)),
    ],
)
def test_what_the_settings_do_not_allow_is_not_offered(allowed: Market, listed: dict[str, Any]) -> None:
    assert offers(listed, of=allowed) == []


def test_with_both_policies_spot_and_on_demand_are_offered_apart() -> None:
    found = offers(an_offer(), an_offer(spot=True, price=0.9), of=market(spot_policy=SpotPolicy.AUTO))
    assert [offer.spot for offer in found] == [True, False]


def test_gpu_types_are_reported_in_the_pools_spelling() -> None:
    assert [offer.gpu_type for offer in offers(an_offer(gpu="mi300x"))] == ["MI300X"]


def test_an_unknown_availability_is_worth_a_try() -> None:
    assert [offer.available for offer in offers(an_offer(availability="foggy"))] == [True]


@pytest.mark.parametrize("plan", [{}, {"job_plans": []}, {"job_plans": [{}]}, {"job_plans": [{"offers": None}]}])
def test_a_plan_without_offers_offers_nothing(plan: dict[str, Any]) -> None:
    assert offers_from_plan(plan, MARKET) == []
