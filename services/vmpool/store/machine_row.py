"""Machines to and from rows and JSON."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from services.vmpool.machine import Inventory, Machine, MachineState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import RowMapping

MICROSECOND = timedelta(microseconds=1)
_FIELDS = tuple(field.name for field in fields(Machine))
_MOMENTS = tuple(name for name in _FIELDS if name.endswith("_time"))
_SECRETS = ("token",)


def machine_to_row(machine: Machine) -> dict[str, Any]:
    """All columns of the machine."""
    row = {name: getattr(machine, name) for name in _FIELDS}
    row["state"] = machine.state.value
    row["inventory"] = orjson.dumps(asdict(machine.inventory)).decode()
    row["occupied"] = orjson.dumps(machine.occupied).decode()
    row["idle_us"] = row.pop("idle") // MICROSECOND
    return row


def machine_from_row(row: RowMapping | Mapping[Any, Any]) -> Machine:
    """The machine that `machine_to_row` took apart."""
    values = {name: row[name] for name in _FIELDS if name != "idle"}
    values["state"] = MachineState(row["state"])
    values["inventory"] = Inventory(**orjson.loads(row["inventory"]))
    values["occupied"] = tuple(orjson.loads(row["occupied"]))
    return Machine(**values, idle=row["idle_us"] * MICROSECOND)


def machine_to_json(machine: Machine) -> str:
    """A snapshot for the event log, which keeps no secrets."""
    row = {name: value for name, value in machine_to_row(machine).items() if name not in _SECRETS}
    return orjson.dumps(row).decode()


def machine_from_json(text: str) -> Machine:
    """The machine of a snapshot, its secrets empty."""
    row: dict[str, Any] = orjson.loads(text)
    for name in _MOMENTS:
        row[name] = None if row[name] is None else datetime.fromisoformat(row[name]).astimezone(UTC)
    return machine_from_row(row | dict.fromkeys(_SECRETS, ""))
