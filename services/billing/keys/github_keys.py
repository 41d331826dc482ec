"""The public keys that people have on GitHub, or on a server like it: `<base>/<name>.keys`.

A list is used for 15 minutes. Then GitHub is asked again, with the list's ETag. While GitHub does not answer, the last
list serves for a week, and the caller learns how old it is. An answer that somebody is gone or has no key counts at
once.
"""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from servicekit.logging import get_logger
from services.billing.errors import KeySourceAwayError, NoKeysError
from services.billing.identity.key_list import MOST_BYTES, is_key_list, keys_in
from services.billing.keys.http_get import NoAnswerError, get
from services.billing.keys.key_source import Found
from services.billing.store.github_store import KeptKeys

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.billing.identity.user import User
    from services.billing.keys.http_get import Reply
    from services.billing.store.github_store import GithubStore

log = get_logger(__name__)

FRESH = timedelta(minutes=15)
KEPT = timedelta(days=7)
TIMEOUT_SECONDS = 5.0
"""Limit of one call; the gateway waits no longer than 10 s."""
_LEAST_WAIT, _LONGEST_WAIT = 1, 3600
"""Seconds for which GitHub can make us wait."""


class GithubKeys:
    """A KeySource of the lists below one address."""

    def __init__(
        self, base_url: str, store: GithubStore, clock: Clock, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self.host = urlsplit(base_url).netloc
        self._store = store
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._ask_at: datetime | None = None
        """GitHub has asked us to wait until then."""

    async def keys_of(self, user: User) -> Found | None:
        """The keys of the user's name on GitHub; None if that is not known."""
        return await self.keys_of_name(user.github_name) if user.github_name else None

    async def keys_of_name(self, name: str, *, as_of_now: bool = False) -> Found:
        """The keys of a user of GitHub; with `as_of_now`, GitHub is asked, and no older list serves.

        Raises NoKeysError and KeySourceAwayError. The name has been checked, and is in lower case.
        """
        now = self._clock.now()
        kept = await self._store.kept(name)
        if kept is not None and not as_of_now and now - kept.check_time < FRESH:
            return self._found(name, kept)
        try:
            return self._found(name, await self._asked(name, kept, now))
        except KeySourceAwayError as error:
            log.warning("keys on GitHub cannot be read", extra={"github_name": name, "reason": str(error)})
            if kept is None or as_of_now or now - kept.check_time >= KEPT:
                raise
            found = self._found(name, kept)
            age = f"{self.host} does not answer; the keys of {name} are those of {kept.check_time:%Y-%m-%d %H:%M} UTC"
            return Found(found.origin, found.lines, (age, *found.notes))

    async def _asked(self, name: str, kept: KeptKeys | None, now: datetime) -> KeptKeys:
        place = f"{self.host}/{name}"
        if self._ask_at is not None and now < self._ask_at:
            raise KeySourceAwayError(place, "it has asked us to wait", self._ask_at - now)
        headers = {"If-None-Match": kept.etag} if kept is not None and kept.etag else {}
        try:
            reply = await get(f"{self._base_url}/{name}.keys", headers, self._timeout_seconds, MOST_BYTES)
        except NoAnswerError as error:
            raise KeySourceAwayError(place, str(error)) from error
        if reply.status == HTTPStatus.NOT_FOUND:
            await self._store.forget(name)
            raise NoKeysError(f"{self.host} has no user {name}. Check the name, or use `wavepool keys add`.")
        read = self._read(reply, kept, place, now)
        await self._store.keep(name, read, now - KEPT)
        return read

    def _read(self, reply: Reply, kept: KeptKeys | None, place: str, now: datetime) -> KeptKeys:
        if reply.status == HTTPStatus.NOT_MODIFIED and kept is not None:
            return KeptKeys(kept.body, kept.etag, now)
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            wait = _wait_of(reply)
            self._ask_at = now + wait
            raise KeySourceAwayError(place, "it has asked us to wait", wait)
        if reply.status != HTTPStatus.OK:
            raise KeySourceAwayError(place, f"it answers {reply.status}")
        if not is_key_list(reply.text):
            raise KeySourceAwayError(place, "its answer is not a list of keys")
        return KeptKeys(reply.text, reply.headers.get("etag", ""), now)

    def _found(self, name: str, kept: KeptKeys) -> Found:
        lines, notes = keys_in(kept.body, f"{self.host}/{name}")
        if lines:
            return Found(f"{self.host}/{name}", lines, notes)
        fix = f"add a key at {self._base_url}/settings/keys, or `wavepool keys add`"
        if notes:
            raise NoKeysError(f"{self.host}/{name}.keys has no key that can be used: {fix}. {notes[0]}.")
        raise NoKeysError(f"{self.host}/{name}.keys is empty: {fix}")


def _wait_of(reply: Reply) -> timedelta:
    said = reply.headers.get("retry-after", "")
    seconds = int(said) if said.isdecimal() else 60
    return timedelta(seconds=min(max(seconds, _LEAST_WAIT), _LONGEST_WAIT))
