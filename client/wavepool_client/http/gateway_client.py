"""A client of one gateway: calls of any route, calls that are made once, and streams; the base of all clients."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from wavepool_client.errors import InputError, NotListeningError, UnreachableError
from wavepool_client.http.connection import resolve
from wavepool_client.http.event_stream import Event, follow
from wavepool_client.http.retries import Retries
from wavepool_client.http.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wavepool_client.http.connection import Connection

API = "/api/v1"
ONCE_GIVE_UP_SECONDS = 10.0


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

        An empty value and a flag that is not set are left out of the query.
        """
        given = _given(query)
        return self._transport.call(method, path_of(*path), body=body, query=given, timeout_seconds=timeout_seconds)

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
