"""A process that the fork server forked. It is not our child, so a pidfd shows its end and carries our signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from asyncio import StreamReader, StreamWriter

from services.executor.core.process.fork_server import NUMBER, REQUEST

# asyncio's status for a child that somebody else reaped.
UNKNOWN_STATUS = 255
# A fork server takes a second to start, or several on a busy machine.
_BIRTH_SECONDS = 60.0


class ForkedProcess:
    """A forked process with the interface of `asyncio.subprocess.Process` and all three streams; made by `fork`."""

    def __init__(
        self, pid: int, pidfd: int, line: socket.socket, streams: tuple[StreamWriter, StreamReader, StreamReader]
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = streams
        self._pidfd = pidfd
        self._line = line
        self._end = asyncio.create_task(self._watch())

    def terminate(self) -> None:
        """Send SIGTERM; raises ProcessLookupError if the process has ended."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL; raises ProcessLookupError if the process has ended."""
        self._send(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the end; returns the exit code, or UNKNOWN_STATUS if the fork server died first."""
        return await asyncio.shield(self._end)

    def _send(self, number: signal.Signals) -> None:
        if self.returncode is not None:
            raise ProcessLookupError
        signal.pidfd_send_signal(self._pidfd, number)

    async def _watch(self) -> int:
        await _readable(self._pidfd)
        await _readable(self._line.fileno())
        with self._line:
            message = self._line.recv(NUMBER.size)
        os.close(self._pidfd)
        status: int = NUMBER.unpack(message)[0] if message else UNKNOWN_STATUS
        self.returncode = status
        self.stdin.close()
        with contextlib.suppress(ConnectionError):
            await self.stdin.wait_closed()
        return status


async def fork(channel: socket.socket) -> ForkedProcess:
    """Ask the fork server behind `channel` for a process.

    Raises ConnectionError if the fork server is dead, TimeoutError if it does not answer, and other OSErrors if it
    cannot fork.
    """
    with contextlib.ExitStack() as ours:
        with contextlib.ExitStack() as theirs:
            stdin, stdout, stderr = [_socket_pair(socket.SOCK_STREAM, ours, theirs) for _ in range(3)]
            line = _socket_pair(socket.SOCK_SEQPACKET, ours, theirs)
            passed = [pair[1].fileno() for pair in (stdin, stdout, stderr, line)]
            socket.send_fds(channel, [REQUEST], passed)
        async with asyncio.timeout(_BIRTH_SECONDS):
            await _readable(line[0].fileno())
        pid, pidfd = _birth(line[0])
        ours.callback(os.close, pidfd)
        _, writer = await asyncio.open_unix_connection(sock=stdin[0])
        readers = await _reader(stdout[0]), await _reader(stderr[0])
        ours.pop_all()
    return ForkedProcess(pid, pidfd, line[0], (writer, *readers))


def _socket_pair(
    kind: socket.SocketKind, ours: contextlib.ExitStack, theirs: contextlib.ExitStack
) -> tuple[socket.socket, socket.socket]:
    pair = socket.socketpair(socket.AF_UNIX, kind)
    pair[0].setblocking(False)
    return ours.enter_context(pair[0]), theirs.enter_context(pair[1])


def _birth(line: socket.socket) -> tuple[int, int]:
    message, descriptors, _, _ = socket.recv_fds(line, NUMBER.size, 1, socket.MSG_CMSG_CLOEXEC)
    if not message:
        raise ConnectionResetError
    number: int = NUMBER.unpack(message)[0]
    if number < 0:
        raise OSError(-number, f"the fork server cannot fork: {os.strerror(-number)}")
    return number, descriptors[0]


async def _reader(stream: socket.socket) -> StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: _ReaderProtocol(reader), stream)
    return reader


class _ReaderProtocol(asyncio.StreamReaderProtocol):
    """A reader protocol that makes uvloop close the stream at its end, as asyncio's own loop does."""

    def eof_received(self) -> bool:
        super().eof_received()
        return False


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
