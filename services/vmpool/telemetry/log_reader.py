"""Reads the output of machines' executors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing, contextmanager

from services.vmpool.errors import LogNotFoundError, ProviderError, ProviderUnreachableError
from services.vmpool.machines.machine import Machine
from services.vmpool.providers.provider import Resource
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.telemetry.log_tail import LogTail

PIECE_BYTES = 64 * 1024
"""Well below the limit of a gRPC message."""


class LogReader:
    """Reads machines' logs from their providers, for GetMachineLogs."""

    def __init__(self, machines: MachineStore, providers: ProviderSet) -> None:
        self._machines = machines
        self._providers = providers

    async def read(self, machine_id: str, *, follow: bool, tail_lines: int) -> AsyncGenerator[bytes]:
        """The log in pieces, the first at once even if it is empty; with `follow`, also later output until its end.

        Raises MachineNotFoundError, LogNotFoundError or ProviderUnreachableError.
        """
        machine = await self._machines.get(machine_id)
        read_bytes = 0
        tail = LogTail(tail_lines) if tail_lines else None
        with _translated(machine):
            async with aclosing(self._pieces(machine, follow=False)) as pieces:
                async for piece in pieces:
                    read_bytes += len(piece)
                    if tail is None:
                        yield piece
                    else:
                        tail.feed(piece)
            if tail is not None or not read_bytes:
                for piece in _cut(tail.text() if tail else b""):
                    yield piece
            if follow:
                async with aclosing(self._pieces(machine, follow=True)) as pieces:
                    async for piece in _beyond(pieces, read_bytes):
                        yield piece

    async def _pieces(self, machine: Machine, *, follow: bool) -> AsyncGenerator[bytes]:
        resource = Resource(machine.resource_name, machine.resource_id)
        log = self._providers.named(machine.provider).logs(machine.machine_id, resource, follow=follow)
        try:
            async for data in log:
                for piece in _cut(data):
                    yield piece
        finally:
            if isinstance(log, AsyncGenerator):
                await log.aclose()


def _cut(data: bytes) -> Iterator[bytes]:
    """Pieces that are small enough to send; at least one."""
    for begin in range(0, max(1, len(data)), PIECE_BYTES):
        yield data[begin : begin + PIECE_BYTES]


async def _beyond(pieces: AsyncGenerator[bytes], read_bytes: int) -> AsyncGenerator[bytes]:
    """The bytes after the first `read_bytes`."""
    async for piece in pieces:
        new = piece[read_bytes:]
        read_bytes = max(0, read_bytes - len(piece))
        if new:
            yield new


@contextmanager
def _translated(machine: Machine) -> Generator[None]:
    try:
        yield
    except ProviderError as error:
        raise LogNotFoundError(machine.machine_id, str(error)) from error
    except OSError as error:
        raise ProviderUnreachableError(machine.provider, str(error) or type(error).__name__) from error
