"""The verdicts that follow from a runner's own words, or from its silence."""

from __future__ import annotations

import re

from services.executor.core.model.failure import Failure
from services.executor.core.model.messages import Reply, ReplyMessage, Step
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.exit_reasons import device_fault, misaligned

_OUT_OF_MEMORY = 2
# Names are compared without `hipError` and `cudaError`, so that each stands for both.
_FAULTS = frozenset(
    {
        *("Assert", "HardwareStackError", "IllegalAddress", "IllegalInstruction", "IllegalState"),
        *("InvalidAddressSpace", "InvalidPc", "LaunchFailure", "Unknown"),
    }
)
_OF_THE_MACHINE = frozenset(
    {
        *("CompatNotSupportedOnDevice", "Contained", "DeviceNotLicensed", "DeviceUninitialized", "DevicesUnavailable"),
        *("ECCNotCorrectable", "ECCUncorrectable", "InitializationError", "InsufficientDriver", "MpsClientTerminated"),
        *("MpsConnectionFailed", "MpsMaxClientsReached", "MpsMaxConnectionsReached", "MpsRpcFailure"),
        *("MpsServerNotReady", "NoDevice", "NotInitialized", "NvlinkUncorrectable", "SoftwareValidityNotEstablished"),
        *("StartupFailure", "StubLibrary", "SystemDriverMismatch", "SystemNotReady"),
    }
)
"""Errors of hip_runtime_api.h (ROCm 6.4) and driver_types.h (CUDA 13) that neither a kernel nor a wrong call causes."""
_OF_EITHER = frozenset(
    {
        *("CallRequiresNewerDriver", "CudartUnloading", "Deinitialized", "DeviceAlreadyInUse"),
        *("IncompatibleDriverContext", "JitCompilerNotFound", "NoBinaryForGpu", "NoKernelImageForDevice"),
        *("ExternalDevice", "OperatingSystem", "RuntimeMemory", "RuntimeOther", "SharedObjectInitFailed", "Unknown"),
        "UnsupportedPtxVersion",
    }
)
"""Errors of a machine that is broken or does not fit our build, which kernels or calls of host code can cause too.

They are the submission's if a runner of ours does better.
"""
_TOO_LONG = "LaunchTimeOut"
"""CUDA spells it `LaunchTimeout`. Devices that end kernels themselves give it, such as those that drive a screen."""
# Only launches are refused with these; other names may come from any HIP call, a launch included.
_REFUSED_LAUNCHES = (
    "InvalidConfiguration",
    "LaunchOutOfResources",
    "TooLarge",
    "InvalidDeviceFunction",
    "NoBinaryForGpu",
)
_LAUNCH_ADVICE = (
    "check the block size (at most 1,024 threads, or what `__launch_bounds__` allow), the shared memory (at most "
    "64 KiB) and the grid"
)
_WAITING_FOR = {
    Reply.READY: "The program did not come up within {:g} seconds: look at what its static constructors do.",
    Reply.DONE: "A call of `solution` took more than {:g} seconds.",
}
NO_DEVICE_MEMORY = "vram"
"""The reason of a MEMORY_LIMIT_EXCEEDED that the device reported."""
LATE = "late"
"""The reason of a WRONG_ANSWER that came after its call."""
_LATE = (
    "Something went on writing to the outputs after `solution` had returned and the device was idle: join threads, and "
    "start no work that goes on by itself."
)
NEVER_ENDING = (
    "Look for endless loops, and for blocks that wait for each other (only cooperative launches run all blocks at "
    "once), or make it faster."
)
"""Advice for problems whose honest calls are known to take far less than their time limit."""


_BEFORE_A_CALL = frozenset({Step.ALLOCATE, Step.COPY_IN})
"""Steps before a call in which the runner does work of its own and waits for the device."""
_OWN_WORK = _BEFORE_A_CALL | {Step.COPY_OUT}
"""The same steps, and the copies back from an idle device."""


def may_be_the_machines(message: ReplyMessage) -> bool:
    """True if an error says nothing about the submission when a runner of our own meets it here too.

    Such an error need not come from a kernel, or comes outside a call: the runner's own allocations get no memory, its
    copies fail, or the device is not well when the runner waits for it. A submission that has filled the device is gone
    when our runner asks.
    """
    return _kind(message) in _OF_THE_MACHINE | _OF_EITHER or message.step in _OWN_WORK


def claimed_failure(message: ReplyMessage) -> Failure:
    """The verdict on an error of HIP or CUDA that the runner reported."""
    if message.step is Step.LATE:
        return Failure(Verdict.WRONG_ANSWER, _LATE, reason=LATE)
    name = re.sub(r"\W", "", message.text) or f"HIP error {message.status}"
    if _kind(message) in _OF_THE_MACHINE:
        return device_fault(name)
    if message.status == _OUT_OF_MEMORY:
        text = f"Device memory ran out ({name}). Allocate less, and free in `solution` what it allocates."
        return Failure(Verdict.MEMORY_LIMIT_EXCEEDED, text, reason=NO_DEVICE_MEMORY)
    return _of_the_submission(message, name)


def _of_the_submission(message: ReplyMessage, name: str) -> Failure:
    if name.endswith("MisalignedAddress"):
        return misaligned()
    if _kind(message).casefold() == _TOO_LONG.casefold():
        text = f"The device ended a kernel that ran for too long ({name}). {NEVER_ENDING}"
        return Failure(Verdict.TIME_LIMIT_EXCEEDED, text, reason="wall")
    if message.step is Step.LAUNCH and _kind(message) not in _FAULTS:
        return Failure(Verdict.LAUNCH_ERROR, _refusal(name), reason=name)
    text = f"The device reported {name} after a call: check indices, pointers and sizes in your kernels."
    if message.step in _BEFORE_A_CALL:
        text = (
            f"The device reported {name} before a call: look at what static constructors and earlier calls leave "
            "running on it, and check indices, pointers and sizes there."
        )
    return Failure(Verdict.RUNTIME_ERROR, text, reason="gpu_fault", details=f"step {message.step.name}")


def _kind(message: ReplyMessage) -> str:
    return re.sub(r"^(?:hip|cuda)Error|\W", "", message.text)


def _refusal(name: str) -> str:
    if name.endswith(_REFUSED_LAUNCHES):
        return f"A kernel launch of `solution` was refused ({name}): {_LAUNCH_ADVICE}."
    return (
        f"A HIP call of `solution`, or a kernel launch, was refused ({name}): check the pointers, sizes and handles "
        f"that its calls are given; of launches, {_LAUNCH_ADVICE}."
    )


def hung(expected: Reply, seconds: float, advice: str = "") -> Failure:
    """The verdict on a runner that did not answer in time."""
    text = _WAITING_FOR.get(expected, "The program did not let its data be copied within {:g} seconds.")
    return Failure(Verdict.TIME_LIMIT_EXCEEDED, f"{text.format(seconds)} {advice}".rstrip(), reason="wall")


def never_came_up(seconds: float) -> Failure:
    """The verdict on a runner that did not even connect."""
    return hung(Reply.READY, seconds)


def interference(what: str) -> Failure:
    """The verdict on a program that spoke in the runner's place, or cut its connection."""
    text = f"The program interfered with the runner ({what}). Leave descriptors and files alone that you did not open."
    return Failure(Verdict.RUNTIME_ERROR, text, reason="interference")


def left_hanging() -> Failure:
    """The verdict on a program that left, and whose processes cannot be killed."""
    text = (
        "The program ended and its processes cannot be killed, because the device does not let go of them: check "
        "indices, pointers and sizes, and look for endless loops."
    )
    return Failure(Verdict.RUNTIME_ERROR, text, reason="gpu_fault")
