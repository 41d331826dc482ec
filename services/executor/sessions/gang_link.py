"""A node's way to the others: a device in its session's network, whose packets a call of Exchange carries.

We hold the device, so the session's programs reach it as a network and not otherwise. While nobody calls, the kernel
keeps some packets and drops the others; TCP repeats them.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor import metrics
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.errors import ExchangeReplacedError, UnknownSessionError
from services.executor.sessions.gang import DEVICE, MTU
from services.executor.sessions.network import NO_IPV6, WayIn, program

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from services.executor.sessions.gang import Gang

SSH_PORT = 22
BATCH_BYTES = 1 << 18
"""Packets of one message: fewer for a device that has fewer."""
_QUEUE = 100
"""Packets that the kernel keeps for us."""
_MAKER = Path(__file__).with_name("tun_maker.py")
_ANSWER_BYTES = 16


class GangLink:
    """The device of one node. `listener` is what other nodes connect to for SSH, until it is given away."""

    def __init__(self, session_id: str, gang: Gang, device: int, listener: socket.socket) -> None:
        self.gang = gang
        self.listener = listener
        self._session_id = session_id
        self._device = device
        self._exchange: _Exchange | None = None

    async def exchange(self, incoming: AsyncIterator[Sequence[bytes]]) -> AsyncGenerator[Sequence[bytes]]:
        """Pass `incoming` packets on to the session, and yield those that leave it, until `incoming` ends.

        Raises ExchangeReplacedError if this is called again meanwhile, UnknownSessionError when the session ends, and
        what `incoming` raises.
        """
        if self._device < 0:
            raise UnknownSessionError(self._session_id)
        if self._exchange is not None:
            self._exchange.stop(ExchangeReplacedError(self._session_id))
        self._exchange = exchange = _Exchange(self._device)
        inward = asyncio.create_task(self._pass_in(incoming))
        inward.add_done_callback(lambda _: exchange.stop(None))
        try:
            while await exchange.has_packets():
                if packets := self._leaving():
                    yield packets
            if exchange.fault is not None:
                raise exchange.fault
        finally:
            exchange.stop(None)
            if self._exchange is exchange:
                self._exchange = None
            inward.cancel()
            await asyncio.wait({inward})
        if not inward.cancelled() and (failure := inward.exception()):
            raise failure

    def close(self) -> None:
        """Remove the device; safe to call twice."""
        if self._exchange is not None:
            self._exchange.stop(UnknownSessionError(self._session_id))
        self.listener.close()
        if self._device >= 0:
            os.close(self._device)
            self._device = -1

    async def _pass_in(self, incoming: AsyncIterator[Sequence[bytes]]) -> None:
        async for packets in incoming:
            entering = [packet for packet in packets if self.gang.packets.may_enter(packet)]
            written = sum(map(self._write, entering))
            metrics.gang_bytes.labels("in").inc(sum(map(len, entering)))
            metrics.count_gang_packets("in", written, len(packets) - written)

    def _write(self, packet: bytes) -> bool:
        """Returns False if the kernel does not take it: it is full, or finds fault with the packet."""
        try:
            os.write(self._device, packet)
        except OSError:
            return False
        return True

    def _leaving(self) -> Sequence[bytes]:
        """Read what the session has sent, as far as it fits one message."""
        packets: list[bytes] = []
        size = read = 0
        with suppress(BlockingIOError):
            while size < BATCH_BYTES:
                packet = os.read(self._device, MTU)
                read += 1
                if self.gang.packets.may_leave(packet):
                    packets.append(packet)
                # Whoever sends nothing but what is dropped must not keep us here.
                size += len(packet)
        metrics.gang_bytes.labels("out").inc(sum(map(len, packets)))
        metrics.count_gang_packets("out", len(packets), read - len(packets))
        return packets


class _Exchange:
    """One call, which waits for packets until it is stopped."""

    def __init__(self, device: int) -> None:
        self.fault: Exception | None = None
        self._device = device
        self._is_stopped = False
        self._woken: asyncio.Future[None] | None = None

    async def has_packets(self) -> bool:
        """Wait for packets; returns False once the call is stopped."""
        if self._is_stopped:
            return False
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        loop.add_reader(self._device, self._wake)
        try:
            await self._woken
        finally:
            # A device that is closed meanwhile was taken from the loop before.
            if not self._is_stopped:
                loop.remove_reader(self._device)
        return not self._is_stopped

    def stop(self, fault: Exception | None) -> None:
        """End the call with this fault; the first one counts."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self.fault = fault
        asyncio.get_running_loop().remove_reader(self._device)
        self._wake()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)


def missing_for_gangs() -> str:
    """Return what this machine lacks for networks among nodes, with the fix; empty if it has everything."""
    return WayIn.missing()


async def open_gang_link(session_id: str, gang: Gang, pid: int) -> GangLink:
    """Make the device of a node in the network namespace of process `pid`; raises SandboxError, OSError.

    Nothing may run there yet.
    """
    async with AsyncExitStack() as cleanup:
        way = WayIn(pid)
        cleanup.callback(way.close)
        await way.add_routes([str(gang.network), NO_IPV6])
        ours, theirs = socket.socketpair()
        cleanup.callback(ours.close)
        others = [str(node.address) for node in gang.others]
        words = [program("ip"), DEVICE, str(MTU), str(_QUEUE), str(SSH_PORT), str(gang.own.address), *others]
        with theirs:
            maker = [sys.executable, "-I", "-S", str(_MAKER), str(theirs.fileno()), *words]
            said = await way.run(maker, descriptors=[theirs.fileno()])
        # It has sent them by now, or never will.
        ours.setblocking(False)
        _, descriptors, _, _ = socket.recv_fds(ours, _ANSWER_BYTES, 2, socket.MSG_CMSG_CLOEXEC)
        with ExitStack() as received:
            for descriptor in descriptors:
                received.callback(os.close, descriptor)
            match descriptors:
                case [device, listener]:
                    received.pop_all()
                case _:
                    raise SandboxError(f"the network among the nodes cannot be made: {said}")
        return GangLink(session_id, gang, device, socket.socket(fileno=listener))
    raise AssertionError
