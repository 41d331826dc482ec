"""Asks GitHub's API whether somebody is in a team or an organisation, and may write to a repository.

Nobody passes by an answer that does not come, and none that is older than five minutes counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, cast

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.billing.errors import NotInTeamError
from services.billing.identity.user import User
from services.billing.keys.github_keys import GithubKeys
from services.billing.keys.http_get import NoAnswerError, Reply, get
from services.billing.keys.key_source import Found

log = get_logger(__name__)

BELONGS_FOR = timedelta(minutes=5)
REFUSED_FOR = timedelta(minutes=1)
"""Somebody who has just been added does not wait long."""
UNKNOWN_FOR = timedelta(seconds=5)
"""Keeps those who try again from waiting for GitHub each time."""
TIMEOUT_SECONDS = 4.0
"""Limit of all calls for one person. Their keys are asked for afterwards, and the gateway waits no longer than 10 s."""
_MOST_BYTES = 256 * 1024
_WRITERS = {"write", "admin"}
"""What the API calls the permissions of those who may write; it maps other roles to these."""


@dataclass(frozen=True)
class Rule:
    """Something that an operator demands: `words` say it, and `path` is asked, in which `{}` is the name."""

    words: str
    path: str

    def is_kept(self, reply: Reply) -> bool | None:
        """True if the answer says that somebody belongs, False if not; None if it says neither."""
        if reply.status == HTTPStatus.NOT_FOUND:
            return False
        if reply.status == HTTPStatus.NO_CONTENT:
            return True
        if reply.status != HTTPStatus.OK:
            return None
        document = _object_of(reply.text)
        if document is None:
            return None
        # An invitation that is not accepted yet is "pending".
        return document.get("state") == "active" or document.get("permission") in _WRITERS


def rules_of(team: str, repository: str) -> tuple[Rule, ...]:
    """The rules for `organisation` or `organisation/team`, and for `owner/repository`; an empty one demands nothing."""
    rules: list[Rule] = []
    if team:
        organisation, _, slug = team.partition("/")
        path = f"teams/{slug}/memberships/{{}}" if slug else "members/{}"
        rules.append(Rule(f"be a member of {team}", f"/orgs/{organisation}/{path}"))
    if repository:
        rules.append(Rule(f"have write access to {repository}", f"/repos/{repository}/collaborators/{{}}/permission"))
    return tuple(rules)


class GithubTeams:
    """A TeamCheck of all `rules`, asked with the token in a file, which is read again for each call."""

    def __init__(
        self,
        api_url: str,
        rules: Sequence[Rule],
        token_file: Path,
        clock: Clock,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._api_url = api_url.rstrip("/")
        self._rules = rules
        self._token_file = token_file
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._known: dict[str, tuple[datetime, str]] = {}
        """Until when what is known counts, by name, and the refusal; empty: passes."""

    async def check(self, name: str) -> None:
        """Raises NotInTeamError unless the user of GitHub keeps all rules; the message names the first that is not."""
        now = self._clock.now()
        until, refusal = self._known.get(name, (now, ""))
        if until <= now:
            lifetime, refusal = await self._asked(name)
            known = {one: what for one, what in self._known.items() if what[0] > now}
            self._known = {**known, name: (now + lifetime, refusal)}
        if refusal:
            raise NotInTeamError(refusal)

    async def _asked(self, name: str) -> tuple[timedelta, str]:
        answers = await asyncio.gather(*(self._is_kept(rule, name) for rule in self._rules))
        for rule, kept in zip(self._rules, answers, strict=True):
            if kept is not True:
                who = f"To use keys from GitHub here, a user must {rule.words} there"
                if kept is False:
                    return (
                        REFUSED_FOR,
                        f"{who}, and {name} does not. Ask an administrator of {rule.words.split()[-1]}.",
                    )
                return UNKNOWN_FOR, f"{who}. Whether {name} does cannot be found out now: {kept}. Try again later."
        return BELONGS_FOR, ""

    async def _is_kept(self, rule: Rule, name: str) -> bool | str:
        """Whether somebody keeps a rule; or, in words, why that is not known."""
        try:
            token = (await asyncio.to_thread(self._token_file.read_text)).strip()
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
            url = f"{self._api_url}{rule.path.format(name)}"
            reply = await get(url, headers, self._timeout_seconds, _MOST_BYTES)
        except NoAnswerError as error:
            return self._unknown(rule, str(error))
        except (OSError, UnicodeDecodeError) as error:
            return self._unknown(rule, f"our token cannot be read ({type(error).__name__})")
        kept = rule.is_kept(reply)
        return self._unknown(rule, f"it answers {reply.status}") if kept is None else kept

    def _unknown(self, rule: Rule, reason: str) -> str:
        log.warning("GitHub does not say who belongs", extra={"rule": rule.words, "reason": reason})
        return reason


def _object_of(text: str) -> dict[str, Any] | None:
    try:
        document = cast("object", json.loads(text))
    except ValueError:
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


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
