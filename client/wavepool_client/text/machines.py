"""Describes a machine's activity, cost and start time; pure, and tolerant of missing fields."""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

READY_STATES = frozenset({"WARM", "BUSY"})
OVER_STATES = frozenset({"STOPPED", "FAILED", "LOST"})


def seconds_text(value: object) -> str:
    """A length of time for people; empty if it is not a number."""
    if not isinstance(value, int | float):
        return ""
    seconds = round(value)
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def start_text(
    elapsed_seconds: object, estimate_seconds: object, estimate_p90_seconds: object, limit_seconds: object = None
) -> str:
    """The time that a start has taken so far, and the time that such starts take, or after which it is given up."""
    elapsed, usual, slow = map(seconds_text, (elapsed_seconds, estimate_seconds, estimate_p90_seconds))
    parts = [f"{elapsed} so far" if elapsed else "", f"usually {usual}" if usual else ""]
    parts.append(f"9 of 10 within {slow}" if slow and slow != usual else "")
    if (limit := seconds_text(limit_seconds)) and not usual:
        parts.append(f"no estimate yet: first start of this kind, given up after {limit}")
    return ", ".join(part for part in parts if part)


def money_text(usd: object) -> str:
    """Dollars with four decimal places, because machines cost cents a minute."""
    return f"${usd:.4f}" if isinstance(usd, int | float) else "-"


def dollars_text(usd: object) -> str:
    """Dollars to the micro-dollar, the unit of accounts; the sign comes first."""
    return f"{'-' if usd < 0 else ''}${abs(usd):,.6f}" if isinstance(usd, int | float) else "-"


def cost_text(usd: object, billable_seconds: object) -> str:
    """The cost of a submission, and the time that it pays for; empty if the cost is not known."""
    if not isinstance(usd, int | float):
        return ""
    if not isinstance(billable_seconds, int | float):
        return dollars_text(usd)
    seconds = f"{billable_seconds:.3g}" if billable_seconds < 1000 else f"{billable_seconds:,.0f}"  # noqa: PLR2004 - three digits fill up there
    return f"{dollars_text(usd)} for {seconds} s"


def place_text(machine: Fields) -> str:
    """Provider, backend and region, without the empty ones."""
    return "/".join(str(machine[name]) for name in ("provider", "backend", "region") if machine.get(name))


def gpu_text(machine: Fields) -> str:
    """The number and the type of the GPUs."""
    count = machine.get("gpu_count") or 1
    return f"{count} x {machine.get('gpu_type')}" if count != 1 else str(machine.get("gpu_type"))


def free_text(machine: Fields) -> str:
    """The number of its GPUs that no job holds, with parts of a GPU; empty if the machine takes no job."""
    eighths = machine.get("free_eighths")
    if machine.get("state") not in READY_STATES or not isinstance(eighths, int):
        return ""
    return f"{eighths / 8:g} of {machine.get('gpu_count') or 1}"


def tariff_text(machine: Fields) -> str:
    """The price of an hour, the least time that is billed, and the billing step if people would notice it."""
    price = money_text(machine.get("price_usd_per_hour"))
    minimum, step = machine.get("minimum_billed_seconds"), machine.get("billing_increment_seconds")
    parts = [f"{price}/h", f"at least {seconds_text(minimum)}" if minimum else ""]
    parts.append(f"billed by {seconds_text(step)}" if isinstance(step, int | float) and step >= 1 else "")
    return ", ".join(part for part in parts if part)


def order_text(machine: Fields) -> str:
    """The machine's GPUs, place and price."""
    return f"{gpu_text(machine)} at {place_text(machine)}, {tariff_text(machine)}"


def event_text(fields: Fields) -> str:
    """One line for one event of a machine."""
    state = str(fields.get("status") or "?").capitalize()
    stage = str(fields.get("stage") or fields.get("reason") or "")
    timing = ""
    if state.upper() not in READY_STATES | OVER_STATES:
        timing = start_text(
            fields.get("elapsed_seconds"), fields.get("estimate_seconds"), fields.get("estimate_p90_seconds")
        )
    return ": ".join(part for part in (state, "; ".join(part for part in (stage, timing) if part)) if part)
