"""Accounts, which own credit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS

if TYPE_CHECKING:
    from datetime import datetime

    from services.billing.ledger.books import Balance

_NAME = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True)
class Account:
    """An account and its balance; `alert_fire_time` is set while its budget alert is on."""

    account_id: str
    name: str
    admin: bool
    create_time: datetime
    balance: Balance
    alert_fire_time: datetime | None = None


def check_name(name: str) -> str:
    """Gives the account's name back; raises InvalidFieldError if it is not 1 to 64 characters of a-z, 0-9 and "-"."""
    if not _NAME.fullmatch(name):
        raise InvalidFieldError("name", f'must be 1 to 64 characters of a-z, 0-9 and "-"; it is {name[:80]!r}')
    return name


def check_first_grant(grant_micros: int) -> int:
    """Gives a new account's first grant back; raises InvalidFieldError if it is negative or absurdly large."""
    if not 0 <= grant_micros <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("grant_micros", f"must be from 0 to {MAX_AMOUNT_MICROS}; it is {grant_micros}")
    return grant_micros


def first_grant_key(account_id: str) -> str:
    """Idempotency key of an account's first grant, so that repeated tries grant once."""
    return f"first-grant:{account_id}"
