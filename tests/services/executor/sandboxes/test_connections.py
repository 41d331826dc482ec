"""A program in any sandbox reaches the socket that is mounted for it, and its judge can tell it from all others."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from services.executor.core.sandbox.private_socket import PrivateSocket, peer_pid
from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import SandboxError
from tests.services.executor.sandboxes.shell import SandboxedShell

INSIDE = Path("/channel")
CONNECT = f"""exec /usr/bin/python3 -I -c '
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect("{INSIDE}/socket")
connection.sendall(open("{INSIDE}/key", "rb").read())
print(connection.recv(64).decode())
'"""


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="needs Python in /usr/bin, which sandboxes see")
async def test_a_sandboxs_own_process_is_heard_and_known(
    shell: SandboxedShell, tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    listening = PrivateSocket(tmp_path)
    if shell.admits(Gap.FILES) and os.geteuid() == 0:
        with pytest.raises(SandboxError, match="cannot reach"):
            await shell.start("true", mounts=listening.mounts(INSIDE))
        listening.close()
        return
    other = await shell.start("exec sleep 300")
    running = await shell.start(CONNECT, mounts=listening.mounts(INSIDE))
    with await asyncio.wait_for(listening.accept(running), 30) as heard:
        pid = peer_pid(heard)
        assert (running.owns(pid), other.owns(pid)) == (True, False)
        assert not any(map(running.owns, (os.getpid(), victim.pid, 0, 1)))
        heard.send(b"well met")
        assert (await running.wait()).stdout == b"well met\n"
    await other.kill()
    assert {path.name: (path.stat().st_uid, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {
        name: (os.geteuid(), 0o600) for name in ("socket", "key")
    }
