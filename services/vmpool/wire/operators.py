"""Converts operators' requests and their answers from and to vmpool's proto messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.records import record_of
from servicekit.rpc.proto_of import proto_of
from services.vmpool.capacity.machine_request import MachineRequest
from services.vmpool.capacity.offering import Offering
from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.offer import Source
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.provider import ProviderFinding

_SPOT_POLICIES: Mapping[int, SpotPolicy] = {
    pb.SPOT_POLICY_ON_DEMAND: SpotPolicy.ON_DEMAND,
    pb.SPOT_POLICY_SPOT: SpotPolicy.SPOT,
    pb.SPOT_POLICY_AUTO: SpotPolicy.AUTO,
}


def machine_request_from_proto(request: pb.RequestMachineRequest) -> MachineRequest:
    """The request as a value, not checked yet."""
    return record_of(
        MachineRequest,
        request,
        gpu_count=request.gpu_count if request.HasField("gpu_count") else 1,
        spot=_spot_policy(request.spot_policy),
        max_duration=_max_duration(request),
    )


def _spot_policy(number: int) -> SpotPolicy | None:
    if number == pb.SPOT_POLICY_UNSPECIFIED:
        return None
    try:
        return _SPOT_POLICIES[number]
    except KeyError as error:
        legal = ", ".join(policy.value for policy in SpotPolicy)
        raise InvalidFieldError("spot_policy", f"must be one of {legal}; it is number {number}") from error


def _max_duration(request: pb.RequestMachineRequest) -> timedelta:
    try:
        return request.max_duration.ToTimedelta()
    except OverflowError as error:
        raise InvalidFieldError("max_duration", f"is out of range: {error}") from error


def offering_to_proto(offering: Offering, gpu_type: str) -> pb.ListOffersResponse:
    """Offers of a GPU type (empty: all), available ones first and then by price, and the providers that made none."""
    wanted = [offer for offer in offering.offers if not gpu_type or offer.gpu_type == gpu_type]
    cheapest_first = sorted(
        wanted, key=lambda offer: (not offer.available, offer.price_micros_per_hour / offer.gpu_count)
    )
    return proto_of(pb.ListOffersResponse, offers=cheapest_first, failures=failures_to_proto(offering.failures))


def failures_to_proto(failures: Mapping[str, str]) -> list[pb.ProviderFailure]:
    """The providers' words, by provider."""
    return [pb.ProviderFailure(provider=name, message=words) for name, words in failures.items()]


def stopped_to_proto(stopped: Mapping[Source, Failures], now: datetime) -> list[pb.StoppedSource]:
    """The sources from which nothing is rented."""
    return [
        proto_of(pb.StoppedSource, source, message=failed.outlook(now)) for source, failed in sorted(stopped.items())
    ]


def findings_to_proto(findings: Mapping[str, Sequence[ProviderFinding]]) -> pb.DiagnoseProvidersResponse:
    """Each provider's findings as a message."""
    return pb.DiagnoseProvidersResponse(
        findings=[
            proto_of(pb.ProviderFinding, found, provider=provider)
            for provider, founds in findings.items()
            for found in founds
        ]
    )
