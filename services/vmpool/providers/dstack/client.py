"""Asks dstack's server through dstack's own client.

That client blocks and sets no timeout. Here every request has a timeout, and runs on a thread of a small pool. Answers
are returned as JSON, because dstack's models refuse unknown words, and a newer server has such words.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import requests
from dstack.api.server import APIClient
from requests.adapters import HTTPAdapter

from services.vmpool.providers.dstack.config import Server
from services.vmpool.providers.dstack.refusal import refusal

THREADS = 8
"""Requests at a time. If the server hangs, each takes a thread until the timeout."""


class _Session(APIClient):
    """dstack's client with its headers, and a timeout on its session."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.url, server.token)
        adapter = _TimeoutAdapter(server.timeout.total_seconds())
        for scheme in ("http://", "https://"):
            self._s.mount(scheme, adapter)
        # Proxies of the environment are for the internet; netrc would replace our token.
        self._s.trust_env = server.url.startswith("https://")
        self._s.auth = _keep_headers
        # A kept connection may be closed by the server just as a request goes out on it.
        self._s.headers["Connection"] = "close"

    def post(self, path: str, body: str | None) -> requests.Response:
        headers = {} if body is None else {"Content-Type": "application/json"}
        return self._s.post(f"{self.base_url}{path}", data=body, headers=headers)

    def close(self) -> None:
        self._s.close()


class _TimeoutAdapter(HTTPAdapter):
    def __init__(self, seconds: float) -> None:
        super().__init__(pool_maxsize=THREADS)
        self._seconds = seconds

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:  # noqa: ANN401 - requests' own signature
        return super().send(request, *args, **{**kwargs, "timeout": self._seconds})


class DstackClient:
    """Client for one project of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = _Session(server)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="dstack")

    async def ask_project(self, path: str, body: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """POST to a path of the project; returns the answer's JSON, or None if it has none."""
        return await self.ask(f"/api/project/{self._server.project}/{path}", body)

    async def ask(self, path: str, body: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """POST to a path; returns the answer's JSON, or None if it has none.

        Raises RefusedError if the server refuses, and OSError (also TimeoutError) if it does not answer.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, path, body)

    async def close(self) -> None:
        """Close connections. A request under way ends by its timeout."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    def _ask(self, path: str, body: str | None) -> Any:  # noqa: ANN401 - JSON
        try:
            answer = self._session.post(path, body)
        except requests.exceptions.Timeout as error:
            seconds = self._server.timeout.total_seconds()
            raise TimeoutError(f"dstack at {self._server.url} has not answered for {seconds:g} s") from error
        except requests.exceptions.RequestException as error:
            raise ConnectionError(f"dstack at {self._server.url} cannot be reached: {_innermost(error)}") from error
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ConnectionError(f"dstack at {self._server.url} failed at {path} with {answer.status_code}")
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise refusal(path, answer.status_code, _json(answer))
        return _json(answer)


def _json(answer: requests.Response) -> Any:  # noqa: ANN401 - JSON
    try:
        return answer.json()
    except requests.exceptions.JSONDecodeError:
        return None


def _innermost(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request
