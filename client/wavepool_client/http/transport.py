"""HTTP calls to the gateway, with its errors as exceptions and its event streams as events."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import httpx
import httpx_sse

from wavepool_client.errors import NotListeningError, RateLimitedError, ServerError, UnreachableError
from wavepool_client.http.connection import has_server, verification_for
from wavepool_client.http.event_stream import event_from_frame
from wavepool_client.http.failures import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wavepool_client.http.connection import Connection
    from wavepool_client.http.event_stream import Event

CALL_TIMEOUT_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 5.0
START_ONE = "Start one with `wavepool up`, or name another with --endpoint or WAVEPOOL_ENDPOINT."
NAME_ONE = "Name yours with `wavepool config set NAME --url URL --use`, --endpoint or WAVEPOOL_ENDPOINT."
LONGEST_RETRY_AFTER_SECONDS = 5.0
"""A call that a limit refused is made once more if that is possible so soon; nothing was done at the first."""
SILENCE_SECONDS = 35.0
"""Three heartbeats, one every 10 s, and some margin: after this silence the connection is dead."""


class Transport:
    """Calls to one gateway. On loopback, proxies of the environment are not used."""

    def __init__(self, connection: Connection, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._endpoint = connection.endpoint
        self._http = httpx.Client(
            base_url=connection.endpoint,
            headers={"Authorization": f"Bearer {connection.token}"} if connection.token else {},
            timeout=httpx.Timeout(CALL_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS),
            trust_env=not connection.is_loopback,
            verify=verification_for(connection.endpoint),
        )

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Calls a route and returns its JSON object, which is empty if there is no content. Raises WavepoolError.

        `timeout_seconds` is for routes that take longer than others. One that a limit refused for a few seconds is
        called once more.
        """
        timeout = httpx.USE_CLIENT_DEFAULT if timeout_seconds is None else timeout_seconds
        request = self._http.build_request(method, path, json=body, params=query, headers=headers, timeout=timeout)
        try:
            return self._answer(request)
        except RateLimitedError as error:
            if error.retry_after_seconds is None or error.retry_after_seconds > LONGEST_RETRY_AFTER_SECONDS:
                raise
            self._sleep(error.retry_after_seconds)
            return self._answer(request)

    def readiness(self) -> dict[str, Any]:
        """The answer of `/readyz`, ready or not. Raises WavepoolError if no gateway answers."""
        try:
            return self._object(self._http.get("/readyz"))
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def stream(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        after: int = 0,
        silence_seconds: float = SILENCE_SECONDS,
        on_heartbeat: Callable[[], None] | None = None,
    ) -> Iterator[Event]:
        """Yields the events of one stream, as long as its connection holds. Raises WavepoolError.

        `on_heartbeat` is called whenever something came that is no event; what it raises ends the stream.
        """
        headers = {"Last-Event-ID": str(after)} if after else {}
        timeout = httpx.Timeout(silence_seconds, connect=CONNECT_TIMEOUT_SECONDS)
        try:
            with httpx_sse.connect_sse(self._http, method, path, json=body, headers=headers, timeout=timeout) as source:
                if source.response.is_error:
                    source.response.read()
                    raise failure_of(source.response)
                for frame in source.iter_sse():
                    if (event := event_from_frame(frame)) is not None:
                        yield event
                    elif on_heartbeat is not None:
                        on_heartbeat()
        except httpx_sse.SSEError as error:
            raise ServerError(f"{self._endpoint}{path} did not answer with an event stream: {error}") from error
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def pieces(self, path: str, query: Mapping[str, Any]) -> Iterator[bytes]:
        """Yields a text, in pieces as they come, without a limit on silence. Raises WavepoolError."""
        timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS)
        try:
            with self._http.stream("GET", path, params=query, timeout=timeout) as response:
                if response.is_error:
                    response.read()
                    raise failure_of(response)
                yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _answer(self, request: httpx.Request) -> dict[str, Any]:
        try:
            response = self._http.send(request)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if response.is_error:
            raise failure_of(response)
        return {} if response.status_code == HTTPStatus.NO_CONTENT else self._object(response)

    def _object(self, response: httpx.Response) -> dict[str, Any]:
        try:
            value = cast("object", response.json())
        except ValueError as error:
            raise ServerError(f"{response.url} did not answer with JSON; is it a Wavepool gateway?") from error
        if not isinstance(value, dict):
            raise ServerError(f"{response.url} did not answer with a JSON object; is it a Wavepool gateway?")
        return cast("dict[str, Any]", value)

    def _unreachable(self, error: httpx.TransportError) -> UnreachableError:
        reason = str(error) or type(error).__name__
        kind = NotListeningError if isinstance(error, httpx.ConnectError) else UnreachableError
        return kind(
            f"cannot reach the gateway at {self._endpoint}{self._through()}: {reason}\n"
            + (START_ONE if has_server() else NAME_ONE)
        )

    def _through(self) -> str:
        """Names the proxy of the environment that calls go through, without its password; empty if there is none."""
        from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - slow to import, and only for an error

        url, proxies = urlsplit(self._endpoint), getproxies()
        proxy = urlsplit(proxies.get(url.scheme) or proxies.get("all") or "")
        if not self._http.trust_env or not proxy.hostname or proxy_bypass(url.netloc):
            return ""
        return f" through the proxy {proxy.scheme}://{proxy.netloc.rpartition('@')[2]} (of your environment)"
