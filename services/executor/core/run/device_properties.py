"""The properties that a GPU reports to a program of ours, in a sandbox like those of runs.

The recorder, which has no GPU, gives these answers to host code that asks for them. A call that needs any other
property cannot be recorded. The properties also say whether device code may reach the host's memory, where a time could
be forged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from hipcpu.toolchain import PACKAGE
from services.executor.core.call.trusted_runner import output_of
from services.executor.core.model.failure import InfrastructureFailure
from services.executor.core.run.context import RunContext

_PROGRAM = Path(__file__).with_suffix(".hip")
_NAMES = PACKAGE / "runtime" / "calls" / "device_properties.h"

UNKNOWN_MEMORY = "the GPU did not say whether device code reaches the host's memory, where a time could be forged"
HOST_MEMORY_REACHED = (
    "device code reads and writes the host's memory on this machine (pageable memory access), where a time could be "
    "forged. Nothing in your source is at fault: run on another machine. Its operator turns HMM off on NVIDIA with "
    "`options nvidia_uvm uvm_disable_hmm=1` in /etc/modprobe.d (ATS cannot be turned off); on AMD we run with "
    "HSA_XNACK=0, which this driver does not heed"
)


async def with_properties(context: RunContext) -> RunContext:
    """The context with its GPU's properties; the GPU is asked if that did not happen yet. Other devices have none.

    Raises InfrastructureFailure if there is no such device, or a program of ours fails on it.
    """
    device = context.device
    try:
        if context.properties or not device.describe().is_gpu:
            return context
    except ToolchainError as error:
        raise InfrastructureFailure(f"The device cannot be used: {error}") from error
    reported = await output_of(properties_source(), context, context.cache)
    return replace(context, properties=properties_from(reported.decode(errors="replace")))


def properties_source() -> str:
    """The source of the program that asks a GPU for its properties."""
    return f"{_NAMES.read_text('utf-8')}\n{_PROGRAM.read_text('utf-8')}"


def properties_from(text: str) -> dict[str, bytes]:
    """The properties by name; raises InfrastructureFailure if the text is not from our program."""
    try:
        pairs = [line.split("=") for line in text.splitlines()]
        return {name: bytes.fromhex(value) for name, value in pairs}
    except ValueError as error:
        raise InfrastructureFailure("The GPU's answers cannot be read; run again elsewhere.", details=text) from error


def host_memory_doubt(properties: Mapping[str, bytes]) -> str:
    """Tells the author why no time of this GPU can be proven; empty if device code cannot reach the host's memory."""
    reached = properties.get("pageableMemoryAccess")
    if not reached:
        return UNKNOWN_MEMORY
    return HOST_MEMORY_REACHED if any(reached) else ""
