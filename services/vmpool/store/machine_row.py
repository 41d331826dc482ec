"""Converts machines to and from rows and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import orjson
from sqlalchemy import RowMapping

from servicekit.records import record_of, row_of
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import Inventory, Machine, Origin
from services.vmpool.store.tables import machines

MICROSECOND = timedelta(microseconds=1)
_MOMENTS = tuple(field.name for field in fields(Machine) if field.name.endswith("_time"))
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
    kept = {name: orjson.dumps(getattr(machine, name)).decode() for name in _LISTS}
    return row_of(machines, machine, inventory=orjson.dumps(asdict(machine.inventory)).decode(), **kept)


def machine_from_row(row: RowMapping | Mapping[Any, Any]) -> Machine:
    """The machine in a row of `machine_to_row`."""
    reported: dict[str, Any] = orjson.loads(row["inventory"])
    inventory = Inventory(**{name: value for name, value in reported.items() if name in _INVENTORY})
    kept = {name: tuple(orjson.loads(row[name])) for name in _LISTS}
    return record_of(Machine, SimpleNamespace(**row), inventory=inventory, **kept)


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
