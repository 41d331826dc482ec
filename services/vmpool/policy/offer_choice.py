"""Chooses an offer: a pure function of the offers, the preferences and the latest failures.

GPU types come in the order of the request: the wanted one first, then those that its user allowed. Within a GPU type,
backends come in the operator's order, then providers in the order of the settings. Among equals the cheapest machine
wins, by the cost of an hour, or of the least billed time if that is more. A source that failed lately is passed over
while it backs off.

Work that needs no more GPUs than the usual machine has gets a machine of exactly that size. Other work gets any of the
operator's larger sizes that has enough, so the cheapest is mostly the smallest of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from services.vmpool.policy.machine_budget import Funds
from vocabulary.money import dollars_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from services.vmpool.machines.offer import Offer, Source
    from services.vmpool.policy.failures import Failures

EXPECTED_USE = timedelta(hours=1)
NO_TIME = timedelta(0)


class SpotPolicy(StrEnum):
    """Kinds of machine that may be rented, spelt as dstack does; a spot machine may be taken away by its provider."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    AUTO = "auto"
    """Whichever is cheaper."""


@dataclass(frozen=True)
class OfferPolicy:
    """The operator's rules. `backends` come first, in their order, by backend or by provider name; others follow.

    A `max_price_micros_per_gpu_hour` of 0 sets no limit. `gpu_count` is the usual number of GPUs of a machine, and
    `larger_gpu_counts` are those of machines for work that needs more.
    """

    backends: Sequence[str] = ()
    spot: SpotPolicy = SpotPolicy.ON_DEMAND
    max_price_micros_per_gpu_hour: int = 0
    gpu_count: int = 1
    larger_gpu_counts: Sequence[int] = ()

    def gpu_count_for(self, gpus: int) -> int:
        """The number of GPUs that a machine for work on so many GPUs is expected to have."""
        return min((count for count in (self.gpu_count, *self.larger_gpu_counts) if count >= gpus), default=gpus)

    def has_right_size(self, offer: Offer, gpus: int) -> bool:
        """True if a machine of the offer's size is started for work on so many GPUs."""
        if gpus <= self.gpu_count:
            return offer.gpu_count == self.gpu_count
        return offer.gpu_count >= gpus and offer.gpu_count in self.larger_gpu_counts

    def rank(self, offer: Offer) -> int:
        """The offer's place in the operator's order, from 0."""
        names = (offer.backend, offer.provider, offer.source.place)
        return next((rank for rank, name in enumerate(self.backends) if name in names), len(self.backends))

    def objection(self, offer: Offer) -> str:
        """Why an offer of the right size is not taken; empty if it is."""
        if self.spot is not SpotPolicy.AUTO and offer.spot is not (self.spot is SpotPolicy.SPOT):
            return f"it is {'spot' if offer.spot else 'on-demand'}, and the setting is {self.spot.value}"
        price, limit = offer.price_micros_per_gpu_hour, self.max_price_micros_per_gpu_hour
        if limit and price > limit:
            return f"{dollars_text(price)} per GPU hour is above the limit of {dollars_text(limit)}"
        return "" if offer.available else "the provider has none now"


@dataclass(frozen=True)
class OfferTimes:
    """Times after which an answer is asked for again, is too old to use, and is no longer waited for."""

    fresh: timedelta
    usable: timedelta = timedelta(minutes=5)
    wait: timedelta = timedelta(seconds=2)


@dataclass(frozen=True)
class Market:
    """Offers that can be had; `missing` has a sentence about each provider that makes none now."""

    offers: Sequence[Offer] = ()
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class Terms:
    """Rules for judging offers: the operator's policy, the sources that failed lately, and the money that is left."""

    policy: OfferPolicy = field(default_factory=OfferPolicy)
    backing_off: Mapping[Source, Failures] = field(default_factory=dict["Source", "Failures"])
    funds: Funds = field(default_factory=Funds)
    trials: Mapping[Source, int] = field(default_factory=dict["Source", int])
    """Number of machines that may be started at sources that wasted some; other sources have no limit."""

    def objection(self, offer: Offer, now: datetime, longest_time: timedelta = NO_TIME) -> str:
        """Why an offer of the right size is not taken, for a reservation of that length if any; empty if it is."""
        failed = self.backing_off.get(offer.source)
        failing = failed.outlook(now) if failed else ""
        waiting = (
            ""
            if self.trials.get(offer.source, 1) > 0
            else "its latest machines could not run jobs; the next offers are tried"
        )
        lasting = offer.life_refusal(longest_time)
        return lasting or failing or waiting or self.policy.objection(offer) or self.funds.refusal(offer, longest_time)

    def after(self, offer: Offer, longest_time: timedelta = NO_TIME) -> Terms:
        """The terms that are left after the offer is taken."""
        left = {source: count - (source == offer.source) for source, count in self.trials.items()}
        return replace(self, funds=self.funds.without(offer, longest_time), trials=left)


@dataclass(frozen=True)
class Choice:
    """The offer to take, or None; `passed_over` says of each better offer why it is not taken."""

    offer: Offer | None
    passed_over: Sequence[str] = ()

    @property
    def outlook(self) -> str:
        """Text for the user: the obstacles, and the next step."""
        trying = (f"trying {self.offer.source} now",) if self.offer and self.passed_over else ()
        return "; ".join((*self.passed_over, *trying))


def choose_offer(
    gpu_types: Sequence[str],
    market: Market,
    terms: Terms,
    now: datetime,
    gpus: int = 1,
    longest_time: timedelta = NO_TIME,
) -> Choice:
    """The best offer for work on so many GPUs of one of these types, the first of which is the wanted one.

    `longest_time` is the length of a reservation, for which the machine must last and be paid for.
    """
    passed_over: list[str] = []
    for gpu_type in gpu_types:
        offered = [offer for offer in market.offers if offer.gpu_type == gpu_type]
        fitting = [offer for offer in offered if terms.policy.has_right_size(offer, gpus)]
        if not fitting:
            passed_over.append(_nothing_fits(gpu_type, gpus, offered, terms.policy))
        for offer in sorted(fitting, key=lambda offer: _preference(offer, terms.policy, market)):
            reason = terms.objection(offer, now, longest_time)
            if not reason:
                return Choice(offer, tuple(dict.fromkeys(passed_over)))
            passed_over.append(f"{offer.source}: {reason}")
    return Choice(None, tuple(dict.fromkeys((*passed_over, *market.missing))))


def _nothing_fits(gpu_type: str, gpus: int, offered: Sequence[Offer], policy: OfferPolicy) -> str:
    if not offered:
        return f"no provider offers {gpu_type} now"
    offers = ", ".join(map(str, sorted({offer.gpu_count for offer in offered})))
    if gpus <= policy.gpu_count:
        return f"no provider offers a machine with {policy.gpu_count} {gpu_type} now, only with {offers}"
    allowed = ", ".join(map(str, sorted((policy.gpu_count, *policy.larger_gpu_counts))))
    return (
        f"no machine with {gpus} {gpu_type} or more can be had: the providers offer {offers}, and "
        f"VMPOOL_GPUS_PER_MACHINE allows {allowed}"
    )


def _preference(offer: Offer, policy: OfferPolicy, market: Market) -> tuple[int, int, int, int]:
    # Providers come in the order of the settings, and so do their offers.
    providers = list(dict.fromkeys(other.provider for other in market.offers))
    cost = offer.tariff.cost_micros(EXPECTED_USE)
    return policy.rank(offer), providers.index(offer.provider), cost, offer.gpu_count
