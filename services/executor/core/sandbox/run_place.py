"""The place of a run: its folders, the channels to its runners, and sandboxes made ahead of time.

A judge that waits for a job has its place already. When the job comes, a word to the sandbox is enough to start it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.core.model.limits import StageLimits, with_one_more_byte
from services.executor.core.sandbox.channel import Channel
from services.executor.core.sandbox.scratch import ScratchFolder, memory_parent
from services.executor.devices.device import Device
from services.executor.sandboxes.sandbox import Command, Sandbox
from services.executor.sandboxes.warm_sandbox import WarmSandbox
from submissions.modes import Mode


class PlaceContext(Protocol):
    """The part of a RunContext that a place is made from."""

    @property
    def device(self) -> Device:
        """The device that runs the builds."""
        ...

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox that all processes of the place run in."""
        ...

    @property
    def limits(self) -> StageLimits:
        """The limits of the sandboxes."""
        ...

    @property
    def scratch_parent(self) -> Path:
        """The folder in which scratch folders are made."""
        ...

    @property
    def properties(self) -> Mapping[str, bytes]:
        """The GPU's answers about its properties (`device_properties.py`); empty before it is asked."""
        ...


class RunPlace:
    """The folders, sandboxes and channels of one run; `open_place` makes it.

    `compile` is an empty folder for the builder, `run` for the build, and `replay` for the replayer. `record` does not
    exist yet: it is made when a recorder is put there.
    """

    def __init__(self, context: PlaceContext, cleanup: AsyncExitStack) -> None:
        scratch = cleanup.enter_context(ScratchFolder(context.scratch_parent))
        self.compile = scratch / "compile"
        self.run = scratch / "run"
        self.replay = scratch / "replay"
        self.record = scratch / "record"
        for folder in (self.compile, self.run, self.replay):
            folder.mkdir(mode=0o755)
        self.sandbox = WarmSandbox(context.sandbox)
        cleanup.push_async_callback(self.sandbox.close)
        self._context = context
        self._cleanup = cleanup
        self._channels: deque[Channel] = deque()

    def expect_runner(self) -> None:
        """Make a runner's sandbox, and the channel to it."""
        channel = self._open_channel()
        self._channels.append(channel)
        with suppress(ToolchainError):
            command = runner_command(self._context.device, self.run, channel)
            self.sandbox.expect(command, self._context.limits.runner_sandbox)

    def expect_program(self) -> None:
        """Make the sandbox of a whole program."""
        with suppress(ToolchainError):
            command = self._context.device.run_command(self.run, BuildKind.PROGRAM)
            self.sandbox.expect(command, with_one_more_byte(self._context.limits.program))

    def channel(self) -> Channel:
        """Returns a channel for one runner; as many as were expected have a sandbox waiting."""
        return self._channels.popleft() if self._channels else self._open_channel()

    def _open_channel(self) -> Channel:
        # Its folder is entered first, as cleanup runs backwards and the channel lies in the folder.
        channel = Channel(self._cleanup.enter_context(ScratchFolder(memory_parent(self.run))))
        self._cleanup.callback(channel.close)
        return channel


@asynccontextmanager
async def open_place(context: PlaceContext, modes: Collection[Mode]) -> AsyncGenerator[RunPlace]:
    """A place for one run in one of `modes`; it is removed afterwards. Raises OSError."""
    async with AsyncExitStack() as cleanup:
        place = RunPlace(context, cleanup)
        if set(modes) != {Mode.SANDBOX}:
            place.expect_runner()
        if Mode.SANDBOX in modes:
            place.expect_program()
        yield place


def runner_command(device: Device, build: Path, channel: Channel) -> Command:
    """The command that starts the runner in `build` with its end of the channel."""
    command = device.run_command(build, BuildKind.SOLUTION)
    arguments = (*command.arguments, *channel.arguments)
    return replace(command, arguments=arguments, mounts=(*command.mounts, *channel.mounts))
