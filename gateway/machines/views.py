"""Converts vmpool's messages to the bodies and frames of our HTTP interface."""

from __future__ import annotations

from collections.abc import Mapping

from wavepool.billing.v1 import prices_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.machines import schemas
from gateway.submissions.frames import Frame
from gateway.words.enum_names import machine_state_name
from gateway.words.proto_time import milliseconds_of
from gateway.words.shown import fields_of, shown
from vocabulary.money import dollars_of


def machine_path(machine_id: str) -> str:
    """URL path of a machine."""
    return f"/api/v1/machines/{machine_id}"


def machine_of(machine: vmpool_pb2.Machine) -> schemas.Machine:
    """A machine of the pool as JSON."""
    return shown(
        schemas.Machine,
        machine,
        sandbox_gaps=list(machine.inventory.sandbox_gaps),
        torch_version=machine.inventory.torch_version or None,
    )


def machine_frame(event: vmpool_pb2.MachineEvent) -> Frame:
    """The frame of a machine's event; the last one is its release by its provider."""
    fields = fields_of(
        schemas.MachineChange,
        event,
        timestamp=milliseconds_of(event.time),
        stage=event.provider_stage,
        machine=machine_of(event.machine).model_dump(mode="json"),
    )
    if event.machine.HasField("release_time"):
        fields["final"] = True
    return Frame(machine_state_name(event.machine.state), fields)


def offers_of(answer: vmpool_pb2.ListOffersResponse, prices: prices_pb2.ListPricesResponse | None) -> schemas.OfferList:
    """The offers as JSON, with what users are charged for the same GPUs if the prices are known."""
    charges = _charges(prices) if prices else {}
    offers = [shown(schemas.Offer, one, charge_usd_per_hour=_charge_of(one, charges)) for one in answer.offers]
    return shown(schemas.OfferList, answer, offers=offers)


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
