"""Users: people and programs that sign in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from services.billing.errors import InvalidFieldError
from services.billing.identity.rights import Role

_MAX_EMAIL_CHARACTERS = 254
"""The longest address that SMTP can deliver to."""
_GITHUB_NAME = re.compile(r"(?=.{1,39}\Z)[A-Za-z0-9](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9]))*")
"""The names of people whom an enterprise manages end in `_` and its short name."""
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


class Notify(StrEnum):
    """When a user is mailed about the end of a submission or reservation."""

    NEVER = "never"
    FAILED = "failed"
    """If it did not end as the user wanted."""
    ALWAYS = "always"

    @classmethod
    def _missing_(cls, value: object) -> Notify:
        """A word of a later version: nobody is mailed by mistake, and nothing else fails."""
        del value
        return cls.NEVER

    def wants(self, *, well: bool) -> bool:
        """True if the user is mailed about an end that is, or is not, as wanted."""
        return self is Notify.ALWAYS or (self is Notify.FAILED and not well)


class ProfileVisibility(StrEnum):
    """Who sees a user's profile, beside the user."""

    PUBLIC = "public"
    """Everybody with a token."""
    OFF = "off"

    @classmethod
    def _missing_(cls, value: object) -> ProfileVisibility:
        """A word of a later version: nothing is shown by mistake."""
        del value
        return cls.OFF


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
    github_name: str = ""
    """In lower case, which is all the same to GitHub; empty: not known."""
    notify: Notify = Notify.NEVER
    profile: ProfileVisibility = ProfileVisibility.PUBLIC


def check_github_name(name: str, field: str = "github_name") -> str:
    """Gives a name on GitHub back, in lower case; an empty one is none. Raises InvalidFieldError."""
    if name and not _GITHUB_NAME.fullmatch(name):
        rule = 'must be 1 to 39 letters, digits, "_" and single "-"'
        raise InvalidFieldError(field, f"{rule}, as on GitHub; it is {name[:80]!r}")
    return name.lower()


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
