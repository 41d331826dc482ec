"""Reads dstack's offers in its plan for a run: pure functions of the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.config import Market
from services.vmpool.providers.dstack.runs.fault import note_unknown_word
from vocabulary.money import micros_of

Json = Mapping[str, Any]

AVAILABILITIES: Mapping[str, bool] = {
    # The cloud does not say; only an order shows it.
    "unknown": True,
    "available": True,
    "not_available": False,
    "no_quota": False,
    "no_balance": False,
    "idle": True,
    "busy": False,
}
"""dstack's words for the availability of a machine; True if there is one now."""

_EXISTING = "busy"
"""Availability of a machine that somebody has already; it is no offer."""


def offers_from_plan(plan: Json, market: Market) -> list[Offer]:
    """The offers of the plan that the market allows, in the plan's order."""
    job_plans = cast("list[Json]", plan.get("job_plans") or [])
    listed = cast("list[Json]", job_plans[0].get("offers") or []) if job_plans else []
    offers = (_offer(each, market) for each in listed if each.get("availability") != _EXISTING)
    return [offer for offer in offers if offer is not None and _allowed(offer, market)]


def best_offers(offers: Iterable[Offer], market: Market) -> Sequence[Offer]:
    """The cheapest offer of each kind, if possible an available one; sorted by price, then by the settings' order."""
    ranks = {backend: rank for rank, backend in enumerate(market.backends)}
    best: dict[tuple[object, ...], Offer] = {}
    for offer in sorted(offers, key=lambda offer: (not offer.available, offer.price_micros_per_hour)):
        best.setdefault((offer.backend, offer.region, offer.gpu_type, offer.gpu_count, offer.spot), offer)
    return sorted(best.values(), key=lambda offer: (offer.price_micros_per_hour, ranks.get(offer.backend, len(ranks))))


def _offer(listed: Json, market: Market) -> Offer | None:
    resources = cast("Json", cast("Json", listed.get("instance") or {}).get("resources") or {})
    gpus = cast("list[Json]", resources.get("gpus") or [])
    if not gpus:
        return None
    backend = str(listed.get("backend", ""))
    name = str(gpus[0].get("name", ""))
    return Offer(
        provider="dstack",
        # The pool's spelling, if it is one of the pool's types.
        gpu_type=next((known for known in market.gpu_types if known.casefold() == name.casefold()), name),
        gpu_count=len(gpus),
        price_micros_per_hour=micros_of(listed.get("price", 0)),
        backend=backend,
        region=str(listed.get("region", "")),
        spot=bool(resources.get("spot")),
        available=_is_available(str(listed.get("availability", "unknown"))),
        minimum_billed=market.minimum_of(backend),
        billing_increment=market.increment_of(backend),
    )


def _allowed(offer: Offer, market: Market) -> bool:
    limit = market.max_price_micros_per_gpu_hour
    return (
        offer.gpu_type in market.gpu_types
        and offer.gpu_count in market.gpu_counts
        and (market.spot_policy is SpotPolicy.AUTO or offer.spot is (market.spot_policy is SpotPolicy.SPOT))
        and (not limit or offer.price_micros_per_gpu_hour <= limit)
    )


def _is_available(word: str) -> bool:
    if word not in AVAILABILITIES:
        note_unknown_word("availability", word)
    return AVAILABILITIES.get(word, True)
