"""The port: says whether somebody on GitHub may use their keys there; and the source of keys that asks it first."""

from __future__ import annotations

from typing import Protocol

from services.billing.identity.user import User
from services.billing.keys.github_keys import GithubKeys
from services.billing.keys.key_source import Found


class TeamCheck(Protocol):
    """Knows who belongs to what an operator demands."""

    async def check(self, name: str) -> None:
        """Raises NotInTeamError if the user of GitHub does not belong, or if this cannot be found out."""
        ...


class GuardedGithubKeys:
    """A KeySource of GitHub's keys, for those who pass a check alone. It refuses before it asks for keys."""

    def __init__(self, github: GithubKeys, team: TeamCheck) -> None:
        self._github = github
        self._team = team

    async def keys_of(self, user: User) -> Found | None:
        """The keys of the user's name on GitHub; None if that is not known. Raises NotInTeamError, too."""
        return await self.keys_of_name(user.github_name) if user.github_name else None

    async def keys_of_name(self, name: str) -> Found:
        """The keys of a user of GitHub. Raises NotInTeamError, too."""
        await self._team.check(name)
        return await self._github.keys_of_name(name)
