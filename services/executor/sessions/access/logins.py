"""Who is in a session: its keys, its connections, and their logins and logouts."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit import logging
from services.executor import metrics
from services.executor.sessions.access.orders import Orders
from services.executor.sessions.access.session_files import USER
from services.executor.sessions.access.tunnel import Tunnel
from services.executor.sessions.errors import TooManyConnectionsError
from vocabulary.ssh_keys import Key

log = logging.get_logger(__name__)

MOST_CONNECTIONS = 256
MOST_LOGINS = 10_000
"""Logins that are recorded: a session's users can make its first program report any number."""
_ACCEPTED = re.compile(rf"Accepted publickey for {USER} from \S+ port \d+ ssh2: \S+ (SHA256:\S+)")


class Logins:
    """The logins of one session; it owns our ends of the connections."""

    def __init__(self, keys: Sequence[Key], orders: Orders, record: Callable[[SessionEvent], None]) -> None:
        self._keys = keys
        self._life = orders.life
        self._orders = orders
        self._record = record
        self._tunnels: dict[int, Tunnel] = {}
        self._unclosed: set[int] = set()
        """Connections of which the first program has not told the end: it tells of a login later than it happens."""
        self._logins: dict[int, Key] = {}
        self._changing = asyncio.Lock()
        """Held while keys change: the last to ask is right."""
        self._keys_used: dict[int, Key] = {}
        """By connections of which something may be left."""
        self._login_count = 0
        self._connection_count = 0
        self._leaving: tuple[set[int], set[str]] = (set(), set())
        """Connections and users that are out, and whose processes may be left: the session has not said otherwise.
        The users are for processes on other nodes, which no connection of ours has started."""

    def write_keys(self) -> None:
        """Let the keys in, once there is a sandbox."""
        if self._orders.sandbox is not None:
            self._orders.sandbox.write_keys(self._keys)

    async def replace_keys(self, keys: Sequence[Key]) -> None:
        """Let in these keys and no others, and end all that came in with keys that are gone.

        Before a new key opens it, agents that were forwarded are cut off: whoever is in could use them. Raises
        SilentSessionError if the session does not say that this has been done.
        """
        async with self._changing:
            await self._change_keys(keys)

    async def connect(self, incoming: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Carry one connection.

        Raises UnknownSessionError, SessionNotReadyError, TooManyConnectionsError, SilentSessionError.
        """
        self._life.check_open()
        if len(self._tunnels) >= MOST_CONNECTIONS:
            raise TooManyConnectionsError(self._life.session_id, MOST_CONNECTIONS)
        self._connection_count += 1
        number = self._connection_count
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._orders.give(theirs.fileno(), order="connect", connection=number)
            except BaseException:
                ours.close()
                raise
        self._unclosed.add(number)
        self._tunnels[number] = tunnel = Tunnel(ours)
        try:
            async with contextlib.aclosing(tunnel.carry(incoming)) as outgoing:
                async for chunk in outgoing:
                    yield chunk
        finally:
            tunnel.close()
            del self._tunnels[number]

    def close_connections(self) -> None:
        """Break all connections."""
        for tunnel in self._tunnels.values():
            tunnel.close()

    def log_all_out(self) -> None:
        """Record that nobody is in any more, now that nothing runs."""
        self._unclosed.clear()
        for connection in list(self._logins):
            self._log_out(connection)

    def take_step(self, connection: int, kind: str, line: str) -> None:
        """Notice what a connection's sshd logs, that it has ended, or that nothing is left of what it started.

        Users of the session may have forged it.
        """
        if kind == "log":
            self._take_line(connection, line)
            return
        self._unclosed.discard(connection)
        self._log_out(connection)
        if kind == "gone":
            self._keys_used.pop(connection, None)

    async def _change_keys(self, keys: Sequence[Key]) -> None:
        users = {key.user for key in self._keys} - {key.user for key in keys}
        if not self._life.is_open:
            self._replace_keys(keys)
            return
        new = [key for key in keys if key not in self._keys]
        self._replace_keys([key for key in keys if key in self._keys])
        await self._end_left(keys, users)
        if new:
            cut = await self._orders.ask(order="cut_agents")
            self._replace_keys(keys)
            names = ", ".join(dict.fromkeys(key.user for key in new))
            agents = " Forwarded ssh agents are cut off, as others could use them now." if cut else ""
            self._orders.notify(f"New keys open this session, of {names}.{agents}")

    def _replace_keys(self, keys: Sequence[Key]) -> None:
        self._keys = tuple(keys)
        self.write_keys()

    async def _end_left(self, keys: Sequence[Key], users: Collection[str]) -> None:
        """End what came in with other keys than these, and processes of these users on other nodes."""
        connections = [number for number, key in self._keys_used.items() if key not in keys]
        for number in connections:
            if tunnel := self._tunnels.get(number):
                tunnel.close()
        leaving, left = self._leaving
        leaving.update(connections)
        left.update(users)
        left.difference_update(key.user for key in keys)
        if leaving or left:
            asked = tuple(leaving), tuple(left)
            await self._orders.ask(order="end", connections=sorted(leaving), users=sorted(left))
            leaving.difference_update(asked[0])
            left.difference_update(asked[1])

    def _take_line(self, connection: int, line: str) -> None:
        """Notice a login in a line of sshd's log."""
        if not (accepted := _ACCEPTED.fullmatch(line)):
            return
        key = next((key for key in self._keys if key.fingerprint == accepted[1]), None)
        if key is None:
            # The key was removed while its owner logged in.
            if tunnel := self._tunnels.get(connection):
                tunnel.close()
            self._leaving[0].add(connection)
            self._orders.tell(order="end", number=0, connections=[connection], users=[])
            return
        if connection in self._keys_used or not 0 < connection <= self._connection_count:
            return
        self._keys_used[connection] = key
        if connection not in self._unclosed or self._login_count >= MOST_LOGINS:
            return
        self._login_count += 1
        self._logins[connection] = key
        metrics.session_logins.inc()
        who = {"user": key.user, "fingerprint": key.fingerprint}
        log.info("login to a session", extra={"session_id": self._life.session_id, "connection": connection, **who})
        self._record(SessionEvent(login=session_pb2.SessionLogin(connection=connection, **who)))

    def _log_out(self, connection: int) -> None:
        if key := self._logins.pop(connection, None):
            logout = session_pb2.SessionLogout(connection=connection, user=key.user, fingerprint=key.fingerprint)
            log.info("logout from a session", extra={"session_id": self._life.session_id, "connection": connection})
            self._record(SessionEvent(logout=logout))
