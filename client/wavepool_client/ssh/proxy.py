"""ssh's ProxyCommand: carries its bytes over a WebSocket to a reservation.

`python -m wavepool_client.ssh.proxy ID [NODE]`, where NODE is the rank of one of several machines.

Two threads, because stdin may be whatever ssh gives: one reads it and sends, the other receives and writes. Each waits
for the other side, so that nothing piles up here. Few modules are imported: people wait for this.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import connect

from wavepool_client.errors import WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import resolve
from wavepool_client.ssh.tunnel_note import TunnelNote

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

    from wavepool_client.http.connection import Connection

STDIN, STDOUT = 0, 1
CHUNK_BYTES = 1 << 18
BULK_BYTES = 1 << 14
GATHERING_SECONDS = 0.0007
"""ssh sends a file in packets of 32 KiB. Every message costs something on its way, so a few of them go in one."""
CONNECT_SECONDS = 30
_NORMAL = 1000
_TOKEN_GONE = 4401
_FAULTS_OF_THE_WAY = {0, 1001, 1005, 1006, 1011, 1012, 1013}
"""Close codes after which the session may still be there, and another tunnel may lead to it; 0 is none."""
_BUSY = 429
_SERVER_FAULT = 500
_STATUSES = {
    401: ExitCode.AUTHENTICATION,
    403: ExitCode.AUTHENTICATION,
    404: ExitCode.USAGE,
    409: ExitCode.USAGE,
    _BUSY: ExitCode.LIMIT_REACHED,
}


def carry(connection: Connection, reservation_id: str, node: int = 0) -> ExitCode:
    """Carries stdin and stdout until the session closes; if it is refused, says why.

    That is a note if somebody asks for one, else a line on stderr.
    """
    url = f"{connection.endpoint.replace('http', 'ws', 1)}/api/v1/reservations/{quote(reservation_id, safe='')}/tunnel"
    url += f"?node={node}" if node else ""
    headers = {"Authorization": f"Bearer {connection.token}"} if connection.token else {}
    try:
        with connect(
            url,
            additional_headers=headers,
            compression=None,
            open_timeout=CONNECT_SECONDS,
            # The gateway sends pings, and what a session does not read may hold up answers to ours.
            ping_interval=None,
            proxy=None if connection.is_loopback else True,
            max_size=None,
        ) as tunnel:
            for pipe in (STDIN, STDOUT):
                _enlarge(pipe)
            threading.Thread(target=_send_stdin, args=(tunnel,), daemon=True).start()
            return _write_stdout(tunnel)
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        text = _detail(refusal.response.body) or f"the gateway answers HTTP {status}"
        _complain(text, may_return=status == _BUSY or status >= _SERVER_FAULT)
        return _STATUSES.get(status, ExitCode.UNAVAILABLE)
    except (OSError, WebSocketException) as error:
        _complain(f"cannot reach the gateway at {connection.endpoint}: {error}", may_return=True)
        return ExitCode.UNAVAILABLE


def _enlarge(pipe: int) -> None:
    """Has a pipe hold more than 64 KiB, so that fewer and larger messages carry a file; as large as Linux lets us."""
    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)


def _send_stdin(tunnel: ClientConnection) -> None:
    try:
        while chunk := os.read(STDIN, CHUNK_BYTES):
            tunnel.send(chunk)
            if len(chunk) >= BULK_BYTES:
                time.sleep(GATHERING_SECONDS)
        # An empty message is the end of this side.
        tunnel.send(b"")
    except (ConnectionClosed, OSError):
        return


def _write_stdout(tunnel: ClientConnection) -> ExitCode:
    try:
        while True:
            view = memoryview(tunnel.recv(decode=False))
            while view:
                view = view[os.write(STDOUT, view) :]
    except ConnectionClosed as closed:
        code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (0, "the connection broke")
        if code == _NORMAL:
            return ExitCode.ACCEPTED
        is_lost = code in _FAULTS_OF_THE_WAY
        _complain(reason or f"the gateway closed the connection ({code})", is_lost=is_lost, may_return=is_lost)
        return ExitCode.AUTHENTICATION if code == _TOKEN_GONE else ExitCode.UNAVAILABLE
    except BrokenPipeError:
        return ExitCode.ACCEPTED


def _detail(body: bytes | bytearray | None) -> str:
    try:
        return str(json.loads(body or b"").get("detail") or "")
    except (ValueError, AttributeError):
        return ""


def _complain(text: str, *, is_lost: bool = False, may_return: bool = False) -> None:
    line = " ".join(text.split())
    if TunnelNote(line, is_lost, may_return).leave():
        return
    sys.stderr.write(f"wavepool: {line}\n")
    sys.stderr.flush()


def run(reservation_id: str, node: str = "0") -> ExitCode:
    """Finds the gateway and carries; an error is one line on stderr."""
    try:
        return carry(resolve(), reservation_id, int(node))
    except WavepoolError as error:
        _complain(str(error))
        return error.exit_code


def leave(code: ExitCode) -> None:
    """Ends the process, although the other thread still reads."""
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    # Ctrl-C is for ssh, and ends this, too, without words.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    leave(run(*sys.argv[1:3]))
