"""ssh's proxy as a process, against a real WebSocket server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import Server, ServerConnection, serve

from wavepool_client.ssh.tunnel_note import NOTE, TunnelNote, note_in

PATH = "/api/v1/reservations/res_01J/tunnel"


class Gateway:
    """Takes tunnels; a test sets what it does with one, or with a request for one."""

    def __init__(self) -> None:
        self.handle: Callable[[ServerConnection], None] = echo
        self.answer: Callable[[ServerConnection, Any], Any] = _no_answer
        self.requests: list[Any] = []

    def on_request(self, connection: ServerConnection, request: Any) -> Any:
        self.requests.append(request)
        return self.answer(connection, request)


def _no_answer(connection: ServerConnection, request: Any) -> None:
    """Lets the upgrade go on."""


def echo(tunnel: ServerConnection) -> None:
    """Sends everything back; at the end of the other side `bye`, and closes."""
    for message in tunnel:
        if not message:
            tunnel.send(b"bye")
            return
        tunnel.send(message)


@pytest.fixture
def gateway() -> Iterator[tuple[Gateway, str]]:
    scripted = Gateway()

    def handle(tunnel: ServerConnection) -> None:
        scripted.handle(tunnel)

    server: Server = serve(handle, "127.0.0.1", 0, process_request=scripted.on_request, compression=None)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield scripted, f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    server.shutdown()
    thread.join()


def proxy(url: str, sent: bytes = b"", note: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "WAVEPOOL_ENDPOINT": url, "WAVEPOOL_TOKEN": "wp_user"}
    environment |= {NOTE: str(note)} if note else {}
    command = [sys.executable, "-m", "wavepool_client.ssh.proxy", "res_01J"]
    return subprocess.run(command, input=sent, env=environment, capture_output=True, check=False, timeout=60)


def test_bytes_go_through_unchanged_and_the_end_of_stdin_is_passed_on(gateway: tuple[Gateway, str]) -> None:
    scripted, url = gateway
    sent = os.urandom(1 << 20)
    done = proxy(url, sent)
    assert (done.returncode, done.stdout == sent + b"bye", done.stderr) == (0, True, b"")
    (request,) = scripted.requests
    assert (request.path, request.headers["Authorization"]) == (PATH, "Bearer wp_user")


@pytest.mark.parametrize(("status", "code"), [(401, 4), (404, 2), (409, 2), (429, 6), (503, 3)])
def test_a_refusal_is_one_line_and_an_exit_status(gateway: tuple[Gateway, str], status: int, code: int) -> None:
    scripted, url = gateway
    problem = json.dumps({"title": "x", "status": status, "detail": "res_01J is over;\nmake another"})
    scripted.answer = lambda connection, _: connection.respond(HTTPStatus(status), problem)
    done = proxy(url)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr == b"wavepool: res_01J is over; make another\n"


def test_a_refusal_that_is_no_problem_document_names_the_status(gateway: tuple[Gateway, str]) -> None:
    scripted, url = gateway
    scripted.answer = lambda connection, _: connection.respond(HTTPStatus.BAD_GATEWAY, "<html>")
    done = proxy(url)
    assert (done.returncode, done.stderr) == (3, b"wavepool: the gateway answers HTTP 502\n")


@pytest.mark.parametrize(("close", "code"), [(4401, 4), (4409, 3), (1011, 3)])
def test_a_tunnel_that_is_cut_says_why(gateway: tuple[Gateway, str], close: int, code: int) -> None:
    scripted, url = gateway
    scripted.handle = lambda tunnel: tunnel.close(close, "it is over")
    done = proxy(url)
    assert (done.returncode, done.stderr) == (code, b"wavepool: it is over\n")


@pytest.mark.parametrize(
    ("close", "refusal", "note"),
    [
        (1000, 0, TunnelNote()),
        (1011, 0, TunnelNote("it is over", is_lost=True, may_return=True)),
        (1012, 0, TunnelNote("it is over", is_lost=True, may_return=True)),
        (4409, 0, TunnelNote("it is over")),
        (0, 503, TunnelNote("the gateway answers HTTP 503", may_return=True)),
        (0, 409, TunnelNote("the gateway answers HTTP 409")),
    ],
)
def test_the_command_that_started_ssh_may_have_the_end_as_a_note(
    gateway: tuple[Gateway, str], tmp_path: Path, close: int, refusal: int, note: TunnelNote
) -> None:
    scripted, url = gateway
    scripted.handle = lambda tunnel: tunnel.close(close, "it is over")
    if refusal:
        scripted.answer = lambda connection, _: connection.respond(HTTPStatus(refusal), "")
    assert proxy(url, note=tmp_path / "note").stderr == b""
    assert note_in(tmp_path / "note") == note


def test_a_gateway_that_is_not_there_is_one_line() -> None:
    done = proxy("http://127.0.0.1:9")
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert done.stderr.startswith(b"wavepool: cannot reach the gateway at http://127.0.0.1:9: ")
