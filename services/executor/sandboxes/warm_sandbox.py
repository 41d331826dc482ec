"""Sandboxes made ahead of time, each for a known command."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from services.executor.sandboxes.running_sandbox import started, whole_or_nothing
from services.executor.sandboxes.sandbox import (
    Command,
    Limits,
    OutputListener,
    PreparedSandbox,
    Sandbox,
    SandboxedProcess,
    SandboxError,
)


class WarmSandbox:
    """Implements Sandbox around another adapter; each waiting sandbox is used once, and `close` discards the rest."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._waiting: list[tuple[object, asyncio.Task[PreparedSandbox]]] = []

    @property
    def name(self) -> str:
        """Name of the wrapped adapter."""
        return self._sandbox.name

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of the wrapped adapter."""
        return self._sandbox.gaps

    def expect(self, command: Command, limits: Limits) -> None:
        """Begin to make a sandbox for `command` in the background; a failure shows when it is used."""
        making = asyncio.ensure_future(self._sandbox.prepare(command, limits))
        self._waiting.append((_identity(command, limits), making))

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start the program in the sandbox that waits for it, or else in a new one."""
        if (making := self._take(command, limits)) is not None:
            with suppress(SandboxError):
                return await (await whole_or_nothing(making)).start(on_output)
        return await started(self._sandbox, command, limits, on_output)

    async def prepare(self, command: Command, limits: Limits) -> PreparedSandbox:
        """Return the sandbox that waits for `command`, or else a new one."""
        if (making := self._take(command, limits)) is not None:
            with suppress(SandboxError):
                return await whole_or_nothing(making)
        return await self._sandbox.prepare(command, limits)

    async def close(self) -> None:
        """Discard the sandboxes that were not used."""
        left = [making for _, making in self._waiting]
        self._waiting.clear()
        for prepared in await asyncio.gather(*left, return_exceptions=True):
            if not isinstance(prepared, BaseException):
                await prepared.discard()

    def _take(self, command: Command, limits: Limits) -> asyncio.Task[PreparedSandbox] | None:
        identity = _identity(command, limits)
        for at, (expected, making) in enumerate(self._waiting):
            if expected == identity:
                del self._waiting[at]
                return making
        return None


def _identity(command: Command, limits: Limits) -> object:
    """Return a value that is equal for equal commands, whatever kinds of sequences they hold."""
    words = (tuple(command.arguments), command.workdir, tuple(command.mounts), tuple(command.devices))
    return (*words, tuple(sorted(command.environment.items())), limits)
