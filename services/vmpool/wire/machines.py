"""Converts machines and their events to vmpool's proto messages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from google.protobuf import json_format
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import READY, Inventory, Machine, MachineState, Origin
from services.vmpool.store.event_log import MachineEvent
from vocabulary import slots

_STATES = {state: pb.MachineState.Value(f"MACHINE_STATE_{state.name}") for state in MachineState}
_ORIGINS = {origin: pb.MachineOrigin.Value(f"MACHINE_ORIGIN_{origin.name}") for origin in Origin}
_FAULTS = {fault: pb.MachineFault.Value(f"MACHINE_FAULT_{fault.name}") for fault in Fault if fault} | {
    Fault.NONE: pb.MACHINE_FAULT_UNSPECIFIED
}


def inventory_to_proto(details: str) -> inventory_pb2.Inventory | None:
    """An executor's inventory without the fields that we do not know; None if it cannot be parsed."""
    try:
        return json_format.Parse(details, inventory_pb2.Inventory(), ignore_unknown_fields=True)
    except json_format.ParseError:
        return None


def machine_to_proto(machine: Machine, now: datetime) -> pb.Machine:
    """A machine with its cost up to now."""
    return pb.Machine(
        machine_id=machine.machine_id,
        state=_STATES[machine.state],
        provider=machine.provider,
        gpu_type=machine.gpu_type,
        gpu_count=machine.gpu_count,
        free_eighths=slots.free_eighths(machine.occupied) if machine.state in READY else 0,
        price_micros_per_hour=machine.price_micros_per_hour,
        create_time=instant_to_proto(machine.create_time),
        ready_time=instant_to_proto(machine.ready_time),
        last_used_time=instant_to_proto(machine.last_used_time),
        end_time=instant_to_proto(machine.end_time),
        reason=machine.reason,
        cost_micros=machine.cost_until(now),
        jobs_run=machine.jobs_run,
        provider_stage=machine.provider_stage,
        leased_eighths=sum(gpu.bit_count() for gpu in machine.occupied),
        free_masks=slots.free_masks(machine.occupied) if machine.state in READY else (0,) * machine.gpu_count,
        reservation_ids=dict.fromkeys(machine.reservation_ids),
        release_time=instant_to_proto(machine.release_time),
        **_order_fields(machine),
        **_inventory_fields(machine.inventory),
    )


def event_to_proto(event: MachineEvent, start_limit: timedelta | None) -> pb.WatchMachinesResponse:
    """An event. Its `elapsed`, and the limit of a start, count from the moment at which the machine was wanted."""
    machine = event.machine
    message = pb.MachineEvent(
        seq=event.seq,
        time=instant_to_proto(event.time),
        machine=machine_to_proto(machine, event.time),
        previous_state=_STATES[event.previous_state],
        reason=event.reason,
        provider_stage=machine.provider_stage,
        elapsed=duration_to_proto(event.time - machine.create_time),
        estimate=duration_to_proto(event.estimate and event.estimate.p50),
        estimate_p90=duration_to_proto(event.estimate and event.estimate.p90),
        start_limit=duration_to_proto(start_limit),
    )
    return pb.WatchMachinesResponse(event=message)


def _inventory_fields(inventory: Inventory) -> dict[str, Any]:
    """The fields that the executor reports."""
    return {
        "device": inventory.device,
        "device_title": inventory.device_title,
        "architecture": inventory.architecture,
        "memory_mib": inventory.memory_mib,
        "compute_units": inventory.compute_units,
        "sandbox": inventory.sandbox,
        "signing_public_key": inventory.signing_public_key,
        "inventory": inventory_to_proto(inventory.details),
    }


def _order_fields(machine: Machine) -> dict[str, Any]:
    """The fields of the order, of its billing and, if it ended badly, of its end."""
    return {
        "backend": machine.backend,
        "region": machine.region,
        "spot": machine.spot,
        "max_price_micros_per_hour": machine.max_price_micros_per_hour,
        "max_duration": duration_to_proto(machine.max_duration or None),
        "minimum_billed": duration_to_proto(machine.minimum_billed),
        "billing_increment": duration_to_proto(machine.billing_increment),
        "origin": _ORIGINS[machine.origin],
        "request_id": machine.request_id,
        "own_job_id": machine.own_job_id,
        "fault": _FAULTS[machine.fault],
        "exit_status": machine.exit_status,
    }
