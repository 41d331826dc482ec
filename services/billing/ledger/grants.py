"""Grants of credit, which may expire: the one that expires first is spent first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from services.billing.errors import InvalidFieldError

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Grant:
    """A grant; `remaining_micros` is neither charged nor expired. Without `expire_time` it never expires."""

    grant_id: int
    account_id: str
    amount_micros: int
    remaining_micros: int
    create_time: datetime
    expire_time: datetime | None = None
    description: str = ""


def spend(grants: Iterable[Grant], amount_micros: int) -> Sequence[Grant]:
    """The grants that pay `amount_micros`, or as much of it as they can, with what then remains of each."""
    changed: list[Grant] = []
    for grant in sorted(grants, key=lambda grant: (grant.expire_time or _NEVER, grant.grant_id)):
        if amount_micros <= 0:
            break
        part = min(amount_micros, grant.remaining_micros)
        if part:
            changed.append(replace(grant, remaining_micros=grant.remaining_micros - part))
            amount_micros -= part
    return changed


def lapse(grants: Iterable[Grant], held_micros: int, now: datetime) -> Sequence[Grant]:
    """The expired grants with what remains of each after they lapse.

    Holds will be paid by the grants that expire first, so that much of the expired ones stays until the holds end.
    """
    expired = [grant for grant in grants if grant.expire_time is not None and grant.expire_time <= now]
    return spend(expired, sum(grant.remaining_micros for grant in expired) - held_micros)


def check_expire_time(expire_time: datetime | None, now: datetime) -> datetime | None:
    """Gives the time back; raises InvalidFieldError if it is over."""
    if expire_time is not None and expire_time <= now:
        raise InvalidFieldError("expire_time", f"must be in the future; {expire_time.isoformat()} is over")
    return expire_time
