"""Converts vmpool's messages to the bodies and frames of our HTTP interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wavepool.billing.v1 import prices_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.machines import schemas
from gateway.submissions.frames import Frame
from gateway.words.enum_names import machine_fault_name, machine_origin_name, machine_state_name
from gateway.words.machine_figures import machine_figures
from gateway.words.proto_time import instant_of, milliseconds_of, seconds_of
from vocabulary.money import dollars_of


def machine_path(machine_id: str) -> str:
    """URL path of a machine."""
    return f"/api/v1/machines/{machine_id}"


def machine_of(machine: vmpool_pb2.Machine) -> schemas.Machine:
    """A machine of the pool as JSON."""
    return schemas.Machine(
        **machine_figures(machine),
        state=machine_state_name(machine.state),
        free_eighths=machine.free_eighths,
        leased_eighths=machine.leased_eighths,
        reservation_ids=list(machine.reservation_ids),
        cost_usd=dollars_of(machine.cost_micros),
        jobs_run=machine.jobs_run,
        origin=machine_origin_name(machine.origin),
        request_id=machine.request_id,
        max_price_usd_per_hour=dollars_of(machine.max_price_micros_per_hour),
        max_duration_seconds=seconds_of(machine.max_duration),
        reason=machine.reason,
        provider_stage=machine.provider_stage,
        fault=machine_fault_name(machine.fault) if machine.fault else None,
        exit_status=machine.exit_status if machine.HasField("exit_status") else None,
        sandbox=machine.sandbox,
        sandbox_gaps=list(machine.inventory.sandbox_gaps),
        torch_version=machine.inventory.torch_version or None,
        signing_public_key=machine.signing_public_key,
        create_time=instant_of(machine.create_time),
        ready_time=instant_of(machine.ready_time),
        last_used_time=instant_of(machine.last_used_time),
        end_time=instant_of(machine.end_time),
        release_time=instant_of(machine.release_time),
    )


def machine_frame(event: vmpool_pb2.MachineEvent) -> Frame:
    """The frame of a machine's event; the last one is its release by its provider."""
    fields: dict[str, Any] = {
        "timestamp": milliseconds_of(event.time),
        "previous_state": machine_state_name(event.previous_state),
        "reason": event.reason,
        "stage": event.provider_stage,
        "elapsed_seconds": seconds_of(event.elapsed),
        "estimate_seconds": seconds_of(event.estimate) if event.HasField("estimate") else None,
        "estimate_p90_seconds": seconds_of(event.estimate_p90) if event.HasField("estimate_p90") else None,
        "machine": machine_of(event.machine).model_dump(mode="json"),
    }
    if event.machine.HasField("release_time"):
        fields["final"] = True
    return Frame(machine_state_name(event.machine.state), fields)


def offers_of(answer: vmpool_pb2.ListOffersResponse, prices: prices_pb2.ListPricesResponse | None) -> schemas.OfferList:
    """The offers as JSON, with what users are charged for the same GPUs if the prices are known."""
    charges = _charges(prices) if prices else {}
    return schemas.OfferList(
        offers=[
            schemas.Offer(
                provider=offer.provider,
                backend=offer.backend,
                region=offer.region,
                gpu_type=offer.gpu_type,
                gpu_count=offer.gpu_count,
                spot=offer.spot,
                price_usd_per_hour=dollars_of(offer.price_micros_per_hour),
                charge_usd_per_hour=_charge_of(offer, charges),
                minimum_billed_seconds=seconds_of(offer.minimum_billed),
                billing_increment_seconds=seconds_of(offer.billing_increment),
                available=offer.available,
            )
            for offer in answer.offers
        ],
        failures=failures_of(answer.failures),
    )


def _charges(prices: prices_pb2.ListPricesResponse) -> dict[tuple[str, bool], int]:
    """Micro-dollars per hour of one GPU, by its type in folded case and whether it is on a spot machine."""
    ordinary = {price.gpu_type.casefold(): price.price_micros_per_hour for price in prices.prices}
    spot = {price.gpu_type.casefold(): price.price_micros_per_hour for price in prices.spot_prices}
    return {(name, False): price for name, price in ordinary.items()} | {
        (name, True): price for name, price in (ordinary | spot).items()
    }


def _charge_of(offer: vmpool_pb2.Offer, charges: Mapping[tuple[str, bool], int]) -> float | None:
    charge = charges.get((offer.gpu_type.casefold(), offer.spot))
    return None if charge is None else dollars_of(charge * offer.gpu_count)


def failures_of(failures: Iterable[vmpool_pb2.ProviderFailure]) -> list[schemas.ProviderFailure]:
    """The failures of providers as JSON, in their own words."""
    return [schemas.ProviderFailure(provider=failure.provider, message=failure.message) for failure in failures]


def stopped_of(stopped: Iterable[vmpool_pb2.StoppedSource]) -> list[schemas.StoppedSource]:
    """The sources that nothing is rented from any more, as JSON."""
    return [
        schemas.StoppedSource(
            provider=source.provider, backend=source.backend, gpu_type=source.gpu_type, message=source.message
        )
        for source in stopped
    ]


def diagnosis_of(answer: vmpool_pb2.DiagnoseProvidersResponse) -> schemas.ProviderDiagnosis:
    """The providers' findings as JSON."""
    return schemas.ProviderDiagnosis(
        findings=[
            schemas.ProviderFinding(
                provider=found.provider,
                check=found.check,
                ok=found.ok,
                message=found.message,
                remedy=found.remedy,
            )
            for found in answer.findings
        ]
    )
