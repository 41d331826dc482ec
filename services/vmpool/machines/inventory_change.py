"""Describes a change of a machine's inventory in words; pure."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from services.vmpool.machines.machine import Inventory


def inventory_change(before: Inventory, after: Inventory) -> str:
    """Text for people with the names of the fields that differ; empty if none do."""
    old, new = _fields(before), _fields(after)
    changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return f"its inventory changed: {', '.join(changed)}" if changed else ""


def _fields(inventory: Inventory) -> dict[str, Any]:
    fields = asdict(inventory)
    details = fields.pop("details")
    return fields | (json.loads(details) if details else {})
