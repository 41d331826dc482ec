"""A client of sessions, people with keys, and the real programs of OpenSSH, for tests."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2, session_pb2, session_pb2_grpc

from servicekit.rpc.proto_time import instant_to_proto
from services.executor.sessions.access.session_files import KEEP
from tests.services.executor.client import ADMIN_TOKEN, LEASE_TOKEN
from tests.ssh_keys import new_key

PROXY = Path(__file__).with_name("proxy_command.py")
SEE_SECONDS = 60
WHOLE = inventory_pb2.Slot(eighths=8)
_SERIAL = itertools.count()


class Person:
    """Somebody with a key pair in a folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.identity = folder / f"{name}-{next(_SERIAL)}"
        self.fingerprint = new_key(name).keep(self.identity).fingerprint

    @property
    def public_key(self) -> str:
        return self.identity.with_suffix(".pub").read_text()

    @property
    def key(self) -> session_pb2.SessionKey:
        return session_pb2.SessionKey(user=self.name, public_key=self.public_key)


def session_request(people: Iterable[Person], **fields: Any) -> session_pb2.OpenSessionRequest:
    """A well-formed request under a fresh id, with `fields` replaced."""
    sound: dict[str, Any] = {
        "session_id": f"ses_{next(_SERIAL):08}",
        "fencing_token": 7,
        "slots": [WHOLE],
        "keys": [person.key for person in people],
        "end_time": instant_to_proto(datetime.now(UTC) + timedelta(hours=1)),
    }
    return session_pb2.OpenSessionRequest(**{**sound, **fields})


def name_of(event: session_pb2.SessionEvent) -> str:
    return event.WhichOneof("event") or ""


class Events:
    """The events of one call of OpenSession."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._events = call.__aiter__()

    def __aiter__(self) -> AsyncIterator[session_pb2.SessionEvent]:
        return self

    async def __anext__(self) -> session_pb2.SessionEvent:
        return (await anext(self._events)).event

    async def reach(self, name: str) -> session_pb2.SessionEvent:
        """Reads on to the first event of this name; if there is none, fails and shows the session's last event."""
        last = None
        async for event in self:
            if name_of(event) == name:
                return event
            last = event
        pytest.fail(f"the session has no {name}; it ended with {last}")

    def drop(self) -> None:
        """Closes the stream, as a client that vanishes does."""
        self._call.cancel()


class SessionClient:
    """A client of SessionService, for one caller."""

    def __init__(self, port: int, channel: grpc.aio.Channel, token: str = LEASE_TOKEN) -> None:
        self.port = port
        self.token = token
        self._channel = channel
        self.stub: Any = session_pb2_grpc.SessionServiceStub(channel)
        self._call = {"metadata": (("authorization", f"Bearer {token}"),), "timeout": 120}

    def as_admin(self) -> SessionClient:
        return SessionClient(self.port, self._channel, ADMIN_TOKEN)

    def events(self, request: session_pb2.OpenSessionRequest) -> Events:
        return Events(self.stub.OpenSession(request, **self._call))

    async def update(self, session_id: str, **fields: Any) -> int:
        """Changes the session; gives the number of its last event."""
        request = session_pb2.UpdateSessionRequest(session_id=session_id, **{"fencing_token": 7, **fields})
        return (await self.stub.UpdateSession(request, **self._call)).last_seq

    async def notify(self, session_id: str, text: str, fencing_token: int = 7) -> int:
        request = session_pb2.NotifyRequest(session_id=session_id, fencing_token=fencing_token, text=text)
        return (await self.stub.Notify(request, **self._call)).terminals

    async def close(self, session_id: str, seconds: int = 0, fencing_token: int = 7) -> None:
        grace = Duration(seconds=seconds)
        request = session_pb2.CloseSessionRequest(session_id=session_id, fencing_token=fencing_token, grace=grace)
        await self.stub.CloseSession(request, **self._call)

    async def snapshot(self, session_id: str, fencing_token: int = 7) -> session_pb2.SessionSnapshot:
        request = session_pb2.SnapshotHomeRequest(session_id=session_id, fencing_token=fencing_token)
        return (await self.stub.SnapshotHome(request, **self._call)).snapshot

    async def remove_snapshots(self, request: session_pb2.RemoveSnapshotsRequest) -> None:
        await self.stub.RemoveSnapshots(request, **self._call)

    def connect(self, messages: AsyncIterator[session_pb2.ConnectRequest]) -> Any:
        return self.stub.Connect(messages, **self._call)


class Access:
    """An open session, and ssh's way to it; `known_hosts` has its host key."""

    def __init__(
        self, client: SessionClient, request: session_pb2.OpenSessionRequest, events: Events, folder: Path
    ) -> None:
        self.client = client
        self.session_id = request.session_id
        self.request = request
        self.events = events
        self.host_key = ""
        self.known_hosts = folder / f"known_hosts-{request.session_id}"

    def proxy(self) -> Sequence[object]:
        """The words of ssh's ProxyCommand."""
        words = [sys.executable, PROXY, "connect", self.client.port, self.client.token, self.session_id]
        return [*words, self.request.fencing_token]

    def options(self, person: Person) -> list[str]:
        settings = {
            "ProxyCommand": " ".join(map(str, self.proxy())),
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": self.known_hosts,
            "IdentitiesOnly": "yes",
            "IdentityFile": person.identity,
            "LogLevel": "ERROR",
        }
        return ["-F", "none", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]

    async def start(
        self, person: Person, *command: str, program: str = "ssh", stdin: int = DEVNULL, term: str = "dumb"
    ) -> Process:
        words = [program, *self.options(person), *command]
        environment = {**os.environ, "TERM": term}
        return await asyncio.create_subprocess_exec(*words, stdin=stdin, stdout=PIPE, stderr=STDOUT, env=environment)

    async def run(self, person: Person, command: str, *options: str) -> tuple[int, str]:
        """Exit status and output of a command in the session."""
        process = await self.start(person, *options, "dev@session", command)
        output, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, output.decode()

    @asynccontextmanager
    async def terminal(self, person: Person, *options: str) -> AsyncGenerator[Terminal]:
        terminal = Terminal(await self.start(person, "-tt", *options, "dev@session", stdin=PIPE))
        try:
            await terminal.type("export PS1=; echo my-'shell'")
            await terminal.see("my-shell")
            yield terminal
        finally:
            await terminal.cut()

    @asynccontextmanager
    async def kept(self, person: Person, *words: str, environment: str = "") -> AsyncGenerator[Terminal]:
        """A terminal on a shell that outlives it: `words` are its name, and `again` if it was there before."""
        keep = f"{environment} stty rows 24 cols 200; {KEEP} {' '.join(words)}"
        terminal = Terminal(await self.start(person, "-tt", "dev@session", keep, stdin=PIPE, term="xterm-256color"))
        try:
            yield terminal
        finally:
            await terminal.cut()


class Terminal:
    """An interactive shell with a pty."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.seen = ""

    async def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        try:
            await self.process.stdin.drain()
        except ConnectionResetError:
            assert self.process.stdout is not None
            pytest.fail(f"the terminal was closed: {self.seen!r} {await self.process.stdout.read()!r}")

    async def see(self, text: str) -> None:
        """Reads until `text` was shown since the last call."""
        assert self.process.stdout is not None
        async with asyncio.timeout(SEE_SECONDS):
            while text not in self.seen:
                chunk = await self.process.stdout.read(4096)
                assert chunk, f"the terminal was closed before it showed {text!r}: {self.seen!r}"
                self.seen += chunk.decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    async def cut(self) -> None:
        """Breaks the connection, if it is there."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def ended(self) -> int:
        """Waits until ssh has ended; returns its exit status."""
        assert self.process.stdout is not None
        async with asyncio.timeout(SEE_SECONDS):
            while await self.process.stdout.read(4096):
                pass
            return await self.process.wait()
