"""Converts machines and their events to vmpool's proto messages."""

from __future__ import annotations

from datetime import datetime, timedelta

from google.protobuf import json_format
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.vmpool.machines.machine import READY, Machine
from services.vmpool.store.event_log import MachineEvent
from vocabulary import slots


def inventory_to_proto(details: str) -> inventory_pb2.Inventory | None:
    """An executor's inventory without the fields that we do not know; None if it cannot be parsed."""
    try:
        return json_format.Parse(details, inventory_pb2.Inventory(), ignore_unknown_fields=True)
    except json_format.ParseError:
        return None


def machine_to_proto(machine: Machine, now: datetime) -> pb.Machine:
    """A machine with its cost up to now."""
    is_ready = machine.state in READY
    return proto_of(
        pb.Machine,
        machine,
        machine.inventory,
        free_eighths=slots.free_eighths(machine.occupied) if is_ready else 0,
        leased_eighths=sum(gpu.bit_count() for gpu in machine.occupied),
        free_masks=slots.free_masks(machine.occupied) if is_ready else (0,) * machine.gpu_count,
        cost_micros=machine.cost_until(now),
        max_duration=machine.max_duration or None,
        fault=machine.fault or None,
        inventory=inventory_to_proto(machine.inventory.details),
        reservation_ids=dict.fromkeys(machine.reservation_ids),
    )


def event_to_proto(event: MachineEvent, start_limit: timedelta | None) -> pb.WatchMachinesResponse:
    """An event. Its `elapsed`, and the limit of a start, count from the moment at which the machine was wanted."""
    machine = event.machine
    message = proto_of(
        pb.MachineEvent,
        event,
        machine=machine_to_proto(machine, event.time),
        provider_stage=machine.provider_stage,
        elapsed=event.time - machine.create_time,
        estimate=event.estimate and event.estimate.p50,
        estimate_p90=event.estimate and event.estimate.p90,
        start_limit=start_limit,
    )
    return pb.WatchMachinesResponse(event=message)
