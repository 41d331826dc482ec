"""What operators ask for, from and to vmpool's proto messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.wire_machine import duration_to_proto

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.vmpool.offering import Offering
    from services.vmpool.providers.diagnosis import ProviderFinding
    from services.vmpool.providers.provider import Offer


def offering_to_proto(offering: Offering, gpu_type: str) -> pb.ListOffersResponse:
    """What can be had of a GPU type, empty for all, cheapest first; and who made no offers."""
    wanted = [offer for offer in offering.offers if not gpu_type or offer.gpu_type == gpu_type]
    cheapest_first = sorted(
        wanted, key=lambda offer: (not offer.available, offer.price_micros_per_hour / offer.gpu_count)
    )
    return pb.ListOffersResponse(
        offers=[offer_to_proto(offer) for offer in cheapest_first],
        failures=[pb.ProviderFailure(provider=name, message=words) for name, words in offering.failures.items()],
    )


def offer_to_proto(offer: Offer) -> pb.Offer:
    """One kind of machine."""
    return pb.Offer(
        provider=offer.provider,
        backend=offer.backend,
        region=offer.region,
        gpu_type=offer.gpu_type,
        gpu_count=offer.gpu_count,
        spot=offer.spot,
        price_micros_per_hour=offer.price_micros_per_hour,
        available=offer.available,
        minimum_billed=duration_to_proto(offer.minimum_billed),
        billing_increment=duration_to_proto(offer.billing_increment),
    )


def findings_to_proto(findings: Mapping[str, Sequence[ProviderFinding]]) -> pb.DiagnoseProvidersResponse:
    """What each provider found."""
    return pb.DiagnoseProvidersResponse(
        findings=[
            pb.ProviderFinding(
                provider=provider, check=found.check, ok=found.ok, message=found.message, remedy=found.remedy
            )
            for provider, founds in findings.items()
            for found in founds
        ]
    )
