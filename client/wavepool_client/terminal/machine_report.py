"""Shows machines and offers to people."""

from __future__ import annotations

from collections.abc import Mapping

from wavepool_client.terminal.output import results
from wavepool_client.text.columns import Column, Fields, written
from wavepool_client.text.machines import free_text, gpu_text, money_text, place_text, seconds_text


def print_state(machine: Fields) -> None:
    """Prints the state of a machine, and its cost so far."""
    reason = f" ({machine['reason']})" if machine.get("reason") else ""
    cost = money_text(machine.get("cost_usd"))
    results.print(
        f"{machine.get('id')} is {str(machine.get('state')).lower()}{reason}; it has cost {cost}", markup=False
    )


def _per_hour(usd: object) -> str:
    """A price per hour; empty if there is none."""
    return f"{money_text(usd)}/h" if isinstance(usd, int | float) else ""


def _period(seconds: object) -> str:
    """A length of time; empty below one second, because billing is then exact enough."""
    return seconds_text(seconds) if isinstance(seconds, int | float) and seconds >= 1 else ""


MACHINES: Mapping[str, Column] = {
    "id": "id",
    "state": "state",
    "where": place_text,
    "gpu": gpu_text,
    "free": free_text,
    "device": "device_title",
    "sandbox": "sandbox",
    "jobs": "jobs_run",
    "reservations": lambda machine: " ".join(machine.get("reservation_ids", ())),
    "price": lambda machine: f"{money_text(machine.get('price_usd_per_hour'))}/h",
    "cost": written("cost_usd", money_text),
}
OFFERS: Mapping[str, Column] = {
    "gpu": gpu_text,
    "provider": "provider",
    "backend": "backend",
    "region": "region",
    "cost": lambda offer: f"{money_text(offer.get('price_usd_per_hour'))}/h",
    "users pay": written("charge_usd_per_hour", _per_hour),
    "at least": written("minimum_billed_seconds", _period),
    "billed by": written("billing_increment_seconds", _period),
    "kind": lambda offer: "spot" if offer.get("spot") else "on-demand",
    "now": lambda offer: "available" if offer.get("available") else "sold out",
}
