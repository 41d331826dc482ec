"""A machine that somebody asks for by RequestMachine: which machines fit it, and which requests are refused at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.machine import Machine
from services.vmpool.machines.offer import Offer
from services.vmpool.machines.order_checks import check_backend, check_gpu_count, check_gpu_type, check_max_price
from services.vmpool.policy.offer_choice import Market, OfferPolicy, SpotPolicy

LONGEST_REQUEST_ID = 100
LONGEST_REASON = 200
LONGEST_DURATION = timedelta(days=365)
_NO_TIME = timedelta(0)


@dataclass(frozen=True)
class MachineRequest:
    """A request for a machine; empty text, `spot` None and zeros leave the choice to the pool.

    `max_price_micros_per_hour` is the price of the whole machine.
    """

    gpu_type: str
    gpu_count: int = 1
    provider: str = ""
    backend: str = ""
    region: str = ""
    spot: SpotPolicy | None = None
    max_price_micros_per_hour: int = 0
    max_duration: timedelta = _NO_TIME
    force_new: bool = False
    request_id: str = ""
    reason: str = ""

    def is_met_by(self, machine: Machine) -> bool:
        """True if the machine is one that the request asks for, whatever its state."""
        limit = self.max_price_micros_per_hour
        return (
            (machine.gpu_type, machine.gpu_count) == (self.gpu_type, self.gpu_count)
            and self._takes_place(machine)
            and (self.spot in {None, SpotPolicy.AUTO} or machine.spot is (self.spot is SpotPolicy.SPOT))
            and (not limit or machine.price_micros_per_hour <= limit)
            and (not self.max_duration or machine.max_duration == self.max_duration)
        )

    def policy(self, usual: OfferPolicy) -> OfferPolicy:
        """The operator's policy with the request's own wishes. The lower of the two price limits applies."""
        limits = (self.max_price_micros_per_hour // self.gpu_count, usual.max_price_micros_per_gpu_hour)
        return replace(
            usual,
            spot=self.spot or usual.spot,
            gpu_count=self.gpu_count,
            max_price_micros_per_gpu_hour=min((limit for limit in limits if limit), default=0),
        )

    def market(self, market: Market) -> Market:
        """The offers from the provider, backend and region that the request names."""
        return replace(market, offers=[offer for offer in market.offers if self._takes_place(offer)])

    def _takes_place(self, there: Machine | Offer) -> bool:
        pairs = ((self.provider, there.provider), (self.backend, there.backend), (self.region, there.region))
        return all(not wanted or wanted.casefold() == name.casefold() for wanted, name in pairs)


def check_request(request: MachineRequest, gpu_types: Sequence[str], providers: Sequence[str]) -> MachineRequest:
    """The request with names in their known spelling; raises InvalidFieldError. Offers are not consulted."""
    _check_length("request_id", request.request_id, LONGEST_REQUEST_ID)
    _check_length("reason", request.reason, LONGEST_REASON)
    _check_duration(request.max_duration)
    return replace(
        request,
        gpu_type=check_gpu_type(request.gpu_type, gpu_types),
        gpu_count=check_gpu_count(request.gpu_count),
        provider=check_backend(request.provider, providers, "provider"),
        max_price_micros_per_hour=check_max_price(request.max_price_micros_per_hour, (), "max_price_micros_per_hour"),
    )


def check_against(market: Market, request: MachineRequest, usual: OfferPolicy) -> MachineRequest:
    """The request with names as the offers spell them; raises InvalidFieldError.

    Names are not checked while a provider makes no offers, because its names are not known then.
    """
    if not market.missing:
        there = [offer for offer in market.offers if request.provider in {"", offer.provider}]
        backend = check_backend(request.backend, _names(offer.backend for offer in there))
        there = [offer for offer in there if backend in {"", offer.backend}]
        region = check_backend(request.region, _names(offer.region for offer in there), "region")
        request = replace(request, backend=backend, region=region)
    unlimited = replace(request.policy(usual), max_price_micros_per_gpu_hour=0)
    prices = [
        offer.price_micros_per_hour
        for offer in request.market(market).offers
        if offer.gpu_type == request.gpu_type
        and unlimited.has_right_size(offer, request.gpu_count)
        and not unlimited.objection(replace(offer, available=True))
    ]
    check_max_price(request.max_price_micros_per_hour, prices, "max_price_micros_per_hour")
    return request


def _names(names: Iterable[str]) -> Sequence[str]:
    return sorted({name for name in names if name})


def _check_duration(max_duration: timedelta) -> None:
    nearest = min(max(max_duration, _NO_TIME), LONGEST_DURATION)
    if max_duration != nearest:
        raise InvalidFieldError(
            "max_duration",
            f"must be 0 s (no limit) to {LONGEST_DURATION.total_seconds():.0f} s (a year); it is "
            f"{max_duration.total_seconds():.0f} s, and the nearest is {nearest.total_seconds():.0f} s",
        )


def _check_length(field: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise InvalidFieldError(field, f"must be at most {longest} characters long; it is {len(text)}")
