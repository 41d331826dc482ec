"""A client of one gateway: calls of any route, calls that are made once, and streams; the base of all clients."""

from __future__ import annotations

import itertools
import uuid
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from wavepool_client.errors import InputError, NotFoundError, NotListeningError, UnreachableError
from wavepool_client.http.connection import resolve
from wavepool_client.http.event_stream import Event, follow
from wavepool_client.http.retries import Retries
from wavepool_client.http.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wavepool_client.http.connection import Connection

API = "/api/v1"
ONCE_GIVE_UP_SECONDS = 10.0
SUBMISSIONS = "submissions"
MOST_ON_A_PAGE = 200
JOB_PREFIX = "job_"
WHOLE_ID_CHARACTERS = len(JOB_PREFIX) + 26
MOST_LOOKED_THROUGH = 1000
"""Submissions among which the beginning of an id is looked for."""


class GatewayClient:
    """A synchronous client of one gateway, to be used in a `with` block. Methods raise WavepoolError.

    If `endpoint` and `token` are not given, they are found in the same way as for `wavepool_client.Client`.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        self.connection: Connection = resolve(endpoint, token)
        self._transport = Transport(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections; what was begun goes on."""
        self._transport.close()

    def ask(
        self,
        method: str,
        *path: str,
        body: Mapping[str, Any] | None = None,
        timeout_seconds: float | None = None,
        **query: object,
    ) -> dict[str, Any]:
        """Calls a route: `ask("GET", "teams", "compilers")` is `GET /api/v1/teams/compilers`.

        An empty value and a flag that is not set are left out of the query. The id of a submission may be its
        beginning, if no other newer one begins so.
        """
        given = _given(query)
        try:
            return self._transport.call(method, path_of(*path), body=body, query=given, timeout_seconds=timeout_seconds)
        except NotFoundError:
            whole = self.whole_id(path[1]) if len(path) > 1 and path[0] == SUBMISSIONS else ""
            if not whole:
                raise
        known = path_of(SUBMISSIONS, whole, *path[2:])
        return self._transport.call(method, known, body=body, query=given, timeout_seconds=timeout_seconds)

    def whole_id(self, beginning: str) -> str:
        """The id of the newest submissions' only one that begins so; empty if none does.

        Raises InputError, which names them, if several do.
        """
        if not beginning.startswith(JOB_PREFIX) or not len(JOB_PREFIX) < len(beginning) < WHOLE_ID_CHARACTERS:
            return ""
        newest = itertools.islice(self.listed(SUBMISSIONS, SUBMISSIONS, page_size=MOST_ON_A_PAGE), MOST_LOOKED_THROUGH)
        fitting = [str(one["id"]) for one in newest if str(one["id"]).lower().startswith(beginning.lower())]
        if len(fitting) > 1:
            raise InputError(f"{beginning} fits {len(fitting)} submissions; give more of the id: {fitting[0]}, …")
        return "".join(fitting)

    def listed(self, items: str, *path: str, page_size: int, **query: object) -> Iterator[dict[str, Any]]:
        """Yields all that a route lists under the name `items`, read page by page as it is taken."""
        token = ""
        while True:
            page = self._transport.call(
                "GET", path_of(*path), query=_given({"page_size": page_size, **query, "page_token": token})
            )
            yield from page[items]
            token = str(page.get("next_page_token") or "")
            if not token:
                return

    def once(self, *path: str, body: Mapping[str, Any], key: str = "") -> dict[str, Any]:
        """Posts to a route, and tries again for a while if the answer is lost or a service is just restarting.

        The idempotency key makes sure that it is done only once.
        """
        headers, retries = {"Idempotency-Key": key or uuid.uuid4().hex}, Retries(ONCE_GIVE_UP_SECONDS)
        while True:
            try:
                return self._transport.call("POST", path_of(*path), body=body, headers=headers)
            except NotListeningError:
                raise
            except UnreachableError as error:
                retries.pause(error)

    def pieces(self, *path: str, **query: object) -> Iterator[bytes]:
        """Yields a text, in pieces as they come."""
        return self._transport.pieces(path_of(*path), _given(query) or {})

    def followed(
        self,
        *path: str,
        is_over: Callable[[], bool],
        after: int = 0,
        retries: Retries | None = None,
        on_heartbeat: Callable[[], None] | None = None,
    ) -> Iterator[Event]:
        """Yields the events of a route after number `after`, as they come, until it `is_over`."""
        at = path_of(*path)
        return follow(
            lambda seq: self._transport.stream("GET", at, after=seq, on_heartbeat=on_heartbeat),
            is_over,
            after,
            retries or Retries(),
        )


def path_of(*parts: str) -> str:
    """The path of a route; each part is quoted. Raises InputError for an empty one: without it, it is another route."""
    if not all(parts):
        raise InputError(f"a part of the path {'/'.join(parts)!r} is empty; give the id or name")
    return "/".join((API, *(quote(part, safe="") for part in parts)))


def _given(query: Mapping[str, object]) -> dict[str, Any] | None:
    given = {name: "true" if value is True else value for name, value in query.items()}
    return {name: value for name, value in given.items() if value is not False and value not in (None, "", [])} or None
