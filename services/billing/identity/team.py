"""Teams: users who share an account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class MemberLevel(StrEnum):
    """What a member may do with the team."""

    MEMBER = "member"
    MANAGER = "manager"


class Origin(StrEnum):
    """Why a user is a member."""

    HAND = "hand"
    """Somebody added the user."""
    SIGN_IN = "sign_in"
    """The user's identity provider names the team's group; the next sign-in brings it up to date."""


@dataclass(frozen=True)
class Membership:
    """A user in a team."""

    user_id: str
    user_name: str
    level: MemberLevel
    origin: Origin


@dataclass(frozen=True)
class Team:
    """Users who share an account; lists leave the members out."""

    team_id: str
    name: str
    account_id: str
    create_time: datetime
    members: tuple[Membership, ...] = ()

    def level_of(self, user_id: str) -> MemberLevel | None:
        """What a user may do with the team; None if the user is no member."""
        return next((member.level for member in self.members if member.user_id == user_id), None)
