"""Converts machines to and from rows and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import RowMapping

from services.vmpool.fault import Fault
from services.vmpool.machines.machine import Inventory, Machine, MachineState, Origin

MICROSECOND = timedelta(microseconds=1)
_FIELDS = tuple(field.name for field in fields(Machine))
_MOMENTS = tuple(name for name in _FIELDS if name.endswith("_time"))
_SPANS = ("idle", "minimum_billed", "billing_increment", "max_duration")
_PLAIN = tuple(name for name in _FIELDS if name not in {*_SPANS, "keep_idle"})
_LISTS = ("occupied", "reservation_ids")
_SECRETS = ("token",)
_INVENTORY = frozenset(field.name for field in fields(Inventory))
_LATER = {
    "minimum_billed_us": 0,
    "billing_increment_us": 1,
    "max_duration_us": 0,
    "max_price_micros_per_hour": 0,
    "backend": "",
    "region": "",
    "spot": False,
    "origin": Origin.DEMAND,
    "request_id": "",
    "own_job_id": "",
    "keep_idle_us": None,
    "reservation_ids": "[]",
    "resource_name": "",
    "resource_id": "",
    "rented": True,
    "fault": Fault.NONE,
    "exit_status": None,
}
"""Values for snapshots that were written before these columns came."""


def machine_to_row(machine: Machine) -> dict[str, Any]:
    """All columns of the machine."""
    row = {name: getattr(machine, name) for name in _FIELDS}
    row["state"] = machine.state.value
    row["origin"] = machine.origin.value
    row["fault"] = machine.fault.value
    row["inventory"] = orjson.dumps(asdict(machine.inventory)).decode()
    for name in _LISTS:
        row[name] = orjson.dumps(row[name]).decode()
    row |= {f"{name}_us": row.pop(name) // MICROSECOND for name in _SPANS}
    keep_idle = row.pop("keep_idle")
    row["keep_idle_us"] = None if keep_idle is None else keep_idle // MICROSECOND
    return row


def machine_from_row(row: RowMapping | Mapping[Any, Any]) -> Machine:
    """The machine in a row of `machine_to_row`."""
    values = {name: row[name] for name in _PLAIN}
    values |= {name: row[f"{name}_us"] * MICROSECOND for name in _SPANS}
    values["keep_idle"] = None if row["keep_idle_us"] is None else row["keep_idle_us"] * MICROSECOND
    values["state"] = MachineState(row["state"])
    values["origin"] = Origin(row["origin"])
    values["fault"] = Fault(row["fault"])
    reported: dict[str, Any] = orjson.loads(row["inventory"])
    values["inventory"] = Inventory(**{name: value for name, value in reported.items() if name in _INVENTORY})
    values |= {name: tuple(orjson.loads(row[name])) for name in _LISTS}
    return Machine(**values)


def machine_to_json(machine: Machine) -> str:
    """A snapshot for the event log, which keeps no secrets."""
    row = {name: value for name, value in machine_to_row(machine).items() if name not in _SECRETS}
    return orjson.dumps(row).decode()


def machine_from_json(text: str) -> Machine:
    """The machine of a snapshot, with empty secrets."""
    row: dict[str, Any] = _LATER | orjson.loads(text)
    for name in _MOMENTS:
        row[name] = None if row[name] is None else datetime.fromisoformat(row[name]).astimezone(UTC)
    return machine_from_row(row | dict.fromkeys(_SECRETS, ""))
