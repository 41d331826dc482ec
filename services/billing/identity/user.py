"""Users: people and programs that sign in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from datetime import datetime

    from services.billing.identity.rights import Role

_MAX_EMAIL_CHARACTERS = 254
"""The longest address that SMTP can deliver to."""
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True)
class User:
    """A person or program with a role and an account of its own."""

    user_id: str
    name: str
    role: Role
    account_id: str
    create_time: datetime
    email: str = ""
    issuer: str = ""
    """The identity provider that the user signs in at; empty for a user who only has tokens."""
    subject: str = ""
    """The user's id there."""
    disable_time: datetime | None = None


def check_email(email: str) -> str:
    """Gives an address back; an empty one is none. Raises InvalidFieldError if it is not one."""
    is_address = len(email) <= _MAX_EMAIL_CHARACTERS and email.isprintable() and _EMAIL.fullmatch(email)
    if email and not is_address:
        raise InvalidFieldError("email", f"must be an address such as ada@example.org; it is {email[:80]!r}")
    return email


def email_or_none(email: str) -> str:
    """An address that somebody else vouches for; empty if it is not one."""
    try:
        return check_email(email)
    except InvalidFieldError:
        return ""
