"""Shows machines and offers to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool_client.terminal.output import results
from wavepool_client.text.machines import free_text, gpu_text, money_text, place_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.text.machines import Fields

MACHINE_COLUMNS = ("id", "state", "where", "gpu", "free", "device", "sandbox", "jobs", "reservations", "price", "cost")
OFFER_COLUMNS = ("gpu", "provider", "backend", "region", "cost", "users pay", "at least", "billed by", "kind", "now")


def machine_row(machine: Fields) -> Sequence[object]:
    """One line of the list."""
    return (
        machine.get("id"),
        machine.get("state"),
        place_text(machine),
        gpu_text(machine),
        free_text(machine),
        machine.get("device_title"),
        machine.get("sandbox"),
        machine.get("jobs_run"),
        " ".join(machine.get("reservation_ids", ())),
        f"{money_text(machine.get('price_usd_per_hour'))}/h",
        money_text(machine.get("cost_usd")),
    )


def offer_row(offer: Fields) -> Sequence[object]:
    """One line of the offers."""
    return (
        gpu_text(offer),
        offer.get("provider"),
        offer.get("backend"),
        offer.get("region"),
        f"{money_text(offer.get('price_usd_per_hour'))}/h",
        _per_hour(offer.get("charge_usd_per_hour")),
        _period(offer.get("minimum_billed_seconds")),
        _period(offer.get("billing_increment_seconds")),
        "spot" if offer.get("spot") else "on-demand",
        "available" if offer.get("available") else "sold out",
    )


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
