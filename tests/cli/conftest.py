"""Fixtures for the command: a gateway whose answers a test scripts, and a clean environment."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest


@dataclass(frozen=True)
class Answer:
    """A JSON answer."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Stream:
    """An event stream: frames, then the end, or a `cut` in the middle of a chunk."""

    events: list[tuple[int, dict[str, Any]]]
    cut: bool = False

    def encoded(self) -> bytes:
        """The frames as the gateway writes them."""
        frames = [
            f"event: {data['status']}\nid: {seq}\ndata: {json.dumps(data)}\n\n".encode() for seq, data in self.events
        ]
        beat = b'event: heartbeat\ndata: {"status": "heartbeat", "timestamp": 1}\n\n'
        return b"retry: 2000\n\n" + beat.join([b"", *frames])


@dataclass(frozen=True)
class Request:
    """A request that the gateway received."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of these tests, and stderr belongs to the command."""


class ScriptedGateway:
    """Gives the answers that a test queued for a route, one after the other; the last one is repeated."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: dict[tuple[str, str], list[Answer | Stream]] = defaultdict(list)
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                gateway._handle(self)

            # The names that http.server looks for.
            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def on(self, method: str, path: str, *answers: Answer | Stream) -> Self:
        self._answers[method, path].extend(answers)
        return self

    def only(self, method: str, path: str, *answers: Answer | Stream) -> Self:
        self._answers[method, path] = list(answers)
        return self

    def asked(self, method: str, path: str) -> list[Request]:
        return [r for r in self.requests if (r.method, r.path.partition("?")[0]) == (method, path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        body = json.loads(handler.rfile.read(length)) if length else None
        self.requests.append(Request(handler.command, handler.path, dict(handler.headers), body))
        lined_up = self._answers[handler.command, handler.path.partition("?")[0]]
        answer = lined_up.pop(0) if len(lined_up) > 1 else (lined_up or [Answer({"title": "Not Found"}, 404)])[0]
        if isinstance(answer, Stream):
            _send_stream(handler, answer)
        else:
            _send_json(handler, answer)


def _send_json(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
    handler.send_response(answer.status)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **answer.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def _send_stream(handler: BaseHTTPRequestHandler, stream: Stream) -> None:
    data = stream.encoded()
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", str(len(data) + (1 if stream.cut else 0)))
    handler.end_headers()
    handler.wfile.write(data)
    handler.close_connection = True


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with ScriptedGateway() as running:
        yield running


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Clears endpoint, token and profiles unless a test sets them; each test has its own `.wavepool`."""
    for name in ("WAVEPOOL_ENDPOINT", "WAVEPOOL_TOKEN", "WAVEPOOL_DATA_DIR", "WAVEPOOL_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
