"""Accounts: wallets with credit, each of one user or one team."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS, Balance

_LIKE_CHARACTERS = 56
"""Leaves room for a suffix that tells users with the same name apart."""

_NAME = re.compile(r"[a-z0-9-]{1,64}")


class OwnerKind(StrEnum):
    """The kind of an account's owner."""

    USER = "user"
    TEAM = "team"


@dataclass(frozen=True)
class OwnedAccount:
    """An account and its owner, without its credit."""

    account_id: str
    name: str
    create_time: datetime
    owner: OwnerKind | None
    owner_id: str = ""
    owner_name: str = ""


@dataclass(frozen=True)
class Account:
    """An account and its balance."""

    account_id: str
    name: str
    create_time: datetime
    balance: Balance


def check_name(name: str) -> str:
    """Gives the name of a user, team or account back.

    Raises InvalidFieldError if it is not 1 to 64 characters of a-z, 0-9 and "-".
    """
    if not _NAME.fullmatch(name):
        raise InvalidFieldError("name", f'must be 1 to 64 characters of a-z, 0-9 and "-"; it is {name[:80]!r}')
    return name


def name_like(text: str) -> str:
    """A legal name that resembles `text`, such as a user's name at an identity provider; "user" if nothing is left."""
    plain = unicodedata.normalize("NFKD", text.partition("@")[0]).casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode()).strip("-")[:_LIKE_CHARACTERS] or "user"


def check_first_grant(grant_micros: int) -> int:
    """Gives a new account's first grant back; raises InvalidFieldError if it is negative or absurdly large."""
    if not 0 <= grant_micros <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("grant_micros", f"must be from 0 to {MAX_AMOUNT_MICROS}; it is {grant_micros}")
    return grant_micros


def first_grant_key(account_id: str) -> str:
    """Idempotency key of an account's first grant, so that repeated tries grant once."""
    return f"first-grant:{account_id}"
