"""Runs commands in sandboxes, and leaves none behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from servicekit.cancellation import uncut
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.sandboxes.sandbox import (
    Command,
    Exit,
    Limits,
    OutputListener,
    Sandbox,
    SandboxedProcess,
    SandboxError,
)


@asynccontextmanager
async def running(
    sandbox: Sandbox, command: Command, limits: Limits, on_output: OutputListener | None = None
) -> AsyncGenerator[SandboxedProcess]:
    """A sandboxed process that ends with the context, even if the task is cancelled.

    If a Failure ends the context, it says whether processes are left that cannot be killed. Otherwise, if
    such processes are left, an InfrastructureFailure is raised.
    """
    try:
        process = await uncut(sandbox.start(command, limits, on_output), lambda begun: begun.kill())
    except SandboxError as error:
        raise _sandbox_failure(error) from error
    try:
        yield process
    except Failure as failure:
        failure.unkillable = await _outlives_kill(process) or failure.unkillable
        raise
    except BaseException as error:
        if await _outlives_kill(process):
            raise unkillable() from error
        raise
    if await _outlives_kill(process):
        raise unkillable()


async def run_to_end(
    sandbox: Sandbox, command: Command, limits: Limits, on_output: OutputListener | None = None
) -> Exit:
    """Run a command and wait for its end."""
    async with running(sandbox, command, limits, on_output) as process:
        return await end_of(process)


async def end_of(process: SandboxedProcess) -> Exit:
    """Wait for the end of a sandboxed process; raises InfrastructureFailure if the sandbox fails."""
    try:
        return await process.wait()
    except SandboxError as error:
        raise _sandbox_failure(error) from error


async def _outlives_kill(process: SandboxedProcess) -> bool:
    await process.kill()
    return (await process.wait()).unkillable


def unkillable() -> InfrastructureFailure:
    """The failure of a run whose sandbox cannot be killed; it says nothing about the submission."""
    failure = InfrastructureFailure("The run left processes that cannot be killed; run again elsewhere.")
    failure.unkillable = True
    return failure


def _sandbox_failure(error: SandboxError) -> InfrastructureFailure:
    return InfrastructureFailure("The machine could not make a sandbox; run again elsewhere.", details=str(error))
