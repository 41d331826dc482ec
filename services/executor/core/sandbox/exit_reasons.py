"""Exit reasons: the meaning of a sandbox's end for the submission in it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.verdict import Verdict
from services.executor.sandboxes.sandbox import Exit, Limits

_SIGNAL_HINTS = {
    "SIGSEGV": (
        "memory outside an allocation was touched, or the stack ran over (endless recursion, large local arrays): "
        "check indices against the sizes, and that vectors such as float4 are aligned; "
        "`wavepool core check --memcheck` names the line of a kernel's"
    ),
    "SIGBUS": "memory that does not exist was touched: check indices and alignment",
    "SIGFPE": "an integer was divided by zero",
    "SIGILL": "an instruction that the device does not have, or __builtin_trap, was reached",
    "SIGABRT": "the program aborted itself (abort, assert or an uncaught exception); stderr may say why",
    "SIGTRAP": "a trap was reached",
}
_SIGNAL_STATUS_BASE = 128
_ASSERT_MARK = b"ssertion"
_FAULT_OF_ROCM = re.compile(
    rb"Memory access fault by GPU node-\S+ .*?on address (?P<address>\(nil\)|\w+).*?(?:Reason: (?P<reason>.*?)\.?$|$)"
    rb"|HW Exception by GPU .*?reason *: *(?P<why>.+)|[Aa]borting with error : (?P<error>HSA_STATUS_ERROR_\w+)",
    re.MULTILINE,
)
"""Messages that ROCm's runtime writes before it aborts the process: ROCr's runtime.cpp, clr's rocdevice.cpp."""
_ECC = "ECC"
"""Part of "DRAM ECC failure" and "SRAM ECC failure", the reasons of an access, and of "ECC", that of an exception."""
_HANG = "hang"
_NO_RESOURCES = "HSA_STATUS_ERROR_OUT_OF_RESOURCES"
STOPPED_STATUS = 86
"""Exit status after the `cpu` device's runtime ended the process; stderr says why (`runtime/kernels/stopped.h`)."""
GAVE_UP_STATUS = 70
"""Exit status of a runner whose connection or shared memory is broken; stderr says which (`runner/channel.cpp`)."""
DEVICE_FAULT = "device_fault"
"""The reason of an infrastructure error that only the submission's own process reported, and so might have forged.

The run is not charged and is tried again, a bounded number of times. The error makes no machine suspect: a failed
canary does that.
"""
_MISALIGNED = "misaligned"
_MISALIGNED_MESSAGE = (
    "A vector such as float4 was loaded from or stored to an address that is not a multiple of its size, which CUDA "
    "refuses too: check that offsets and row lengths are multiples of the vector's elements, or use its elements one "
    "by one. `wavepool core check --memcheck` names the line."
)
_OVERRUN = re.compile(r"overrun of shared memory in kernel (.*): launched with (\d+) bytes, written at (\d+)")
_MATRIX = "matrix instruction without"
_DIVERGED = re.compile(r"^(?:divergent|deadlock)")
_STUCK = re.compile(rb"^wavepool: (.+)$", re.MULTILINE)
_NOTABLE_SHARE = 1 / 16
"""The share of a sandbox's memory worth a note: far more than a solution needs beside its data on the device."""
_OUR_FAULT_SIGNALS = frozenset({signal.SIGKILL, signal.SIGTERM})


def build_limit_failure(end: Exit, limits: Limits, text: str) -> Failure | None:
    """COMPILE_LIMIT if a limit ended a builder or a part of it."""
    number = exit_signal(end)
    if end.wall_exceeded:
        message = (
            f"The compiler was not done after {limits.wall.total_seconds():g} seconds and what it waited for other "
            f"work ({(limits.busy_wall or limits.wall).total_seconds():g} seconds at most), though it had not used the "
            f"{limits.cpu.total_seconds():g} seconds of processor time that it may: this machine is too busy. Submit "
            "the source again."
        )
        return Failure(Verdict.COMPILE_LIMIT, message, details=text, reason="wall")
    reached = {
        "cpu": (
            end.cpu_exceeded or number == signal.SIGXCPU,
            f"{limits.cpu.total_seconds():g} seconds of processor time",
        ),
        "host": (end.memory_exceeded, f"{limits.memory_mib} MiB of memory"),
        "files": (end.files_exceeded or number == signal.SIGXFSZ, f"{limits.file_mib} MiB of files"),
        "sandbox": (number in _OUR_FAULT_SIGNALS, "what its sandbox allows"),
    }
    for reason, (is_so, used) in reached.items():
        if is_so:
            message = (
                f"The compiler used up {used}. Include only what you need, and shorten templates, macros and constant "
                "expressions that expand very far."
            )
            return Failure(Verdict.COMPILE_LIMIT, message, details=text, reason=reason)
    return None


def runner_failure(end: Exit, limits: Limits, calls: int, *, came_up: bool = True, is_early: bool = False) -> Failure:
    """The verdict on a solution whose runner ended by itself, or by a limit, after `calls` finished calls.

    `is_early` says that no call had begun. For such a runner, and if `may_be_the_machines`, the verdict holds only if a
    runner of our own works.
    """
    if end.wall_exceeded:
        # The runner's own time is counted for each order (`runner_session.py`), and would have ended it long before.
        return InfrastructureFailure("The judge of this machine was too slow to check the answers of a run in time.")
    if failure := limit_failure(end, limits):
        return failure
    if end.signal is not None:
        return _signal_failure(end, end.signal, is_early=is_early)
    if failure := _stuck_failure(end):
        return failure
    if not came_up:
        message = (
            f"The program ended with exit status {end.code} before `solution` was called: look at what its static "
            "constructors do, and do not call exit there."
        )
    elif end.code == GAVE_UP_STATUS:
        message = (
            f"The program ended with exit status {end.code} after {calls} finished calls, as the runner does when its "
            "connection or its memory is broken. This machine's are well, so leave descriptors, files and memory alone "
            "that are not yours, and do not call exit, _exit or quick_exit."
        )
    else:
        message = (
            f"The program ended with exit status {end.code} after {calls} finished calls, before all were made: "
            "`solution` must return, so do not call exit, _exit or quick_exit."
        )
    return Failure(Verdict.RUNTIME_ERROR, message, reason="early_exit")


def program_failure(end: Exit, limits: Limits) -> Failure | None:
    """The verdict on a whole program; None if it ended well."""
    if failure := limit_failure(end, limits):
        if failure.verdict is Verdict.TIME_LIMIT_EXCEEDED:
            failure.message += strain(end, limits)
        return failure
    if end.output_truncated:
        message = f"The program printed more than {limits.output_bytes >> 10} KiB; the rest is cut off. Print less."
        return Failure(Verdict.OUTPUT_LIMIT_EXCEEDED, message)
    if end.signal is not None:
        return _of_a_program(_signal_failure(end, end.signal))
    if failure := _stuck_failure(end):
        return failure
    if end.code:
        message = f"The program ended with exit status {end.code}; return 0 from main to say that all is well."
        return Failure(Verdict.RUNTIME_ERROR, message, reason="exit_status")
    return None


def device_fault(reported: str) -> InfrastructureFailure:
    """The failure for a reported fault that no kernel can cause, if the report is true."""
    return InfrastructureFailure(
        f"The device reported {reported}, which no kernel causes; run again.", reason=DEVICE_FAULT
    )


def may_be_the_machines(end: Exit) -> bool:
    """True if a runner's end may be the machine's fault, so that it counts only if a runner of our own works.

    This is so if the runner gave up, or if the device was reset, lost memory or ran out of resources.
    """
    fault = _fault_of_rocm(end)
    return end.code == GAVE_UP_STATUS or (fault is not None and fault.may_be_the_machines)


def misaligned() -> Failure:
    """The verdict on a vector access whose address the device refused."""
    return Failure(Verdict.RUNTIME_ERROR, _MISALIGNED_MESSAGE, reason="misaligned")


def took_too_long(limits: Limits) -> Failure:
    """The verdict on a run that took longer than its wall time in all."""
    message = f"The run took more than {limits.wall.total_seconds():g} seconds in all. Make it faster."
    return Failure(Verdict.TIME_LIMIT_EXCEEDED, message, reason="wall")


def limit_failure(end: Exit, limits: Limits) -> Failure | None:
    """The verdict on a run that a limit of its sandbox ended; None if no limit did."""
    if end.wall_exceeded:
        return took_too_long(limits)
    if end.cpu_exceeded:
        message = f"The run used more than {limits.cpu.total_seconds():g} seconds of processor time. Make it faster."
        return Failure(Verdict.TIME_LIMIT_EXCEEDED, message, reason="cpu")
    if end.memory_exceeded:
        message = f"The run used more than {limits.memory_mib} MiB of host memory. Allocate less, and free what you do."
        return Failure(Verdict.MEMORY_LIMIT_EXCEEDED, message, reason="host")
    if end.files_exceeded:
        message = f"The run wrote more than {limits.file_mib} MiB into files. A solution has no need of any."
        return Failure(Verdict.RUNTIME_ERROR, message, reason="files")
    return None


def strain(end: Exit, limits: Limits) -> str:
    """Further sentences on seen behaviour that may have cost the program its time; usually empty."""
    said = ""
    if end.processes_refused:
        said += (
            f" It tried to start more than the {limits.processes} processes and threads that it may have: look for "
            "fork, and for threads started in a loop."
        )
    if end.peak_memory_mib >= limits.memory_mib * _NOTABLE_SHARE:
        said += (
            f" By then it had filled {end.peak_memory_mib:,} MiB of host memory (of at most {limits.memory_mib:,}): "
            "look for allocations in a loop."
        )
    return said


def exit_signal(end: Exit) -> int | None:
    """The signal that ended a program or, by its exit status (128 + n), a part of it."""
    if end.signal is None and end.code is not None and 0 < end.code - _SIGNAL_STATUS_BASE < signal.NSIG:
        return end.code - _SIGNAL_STATUS_BASE
    return end.signal


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV for 11; SIG99 for a number that has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _stuck_failure(end: Exit) -> Failure | None:
    found = _STUCK.search(end.stderr) if end.code == STOPPED_STATUS else None
    if not found:
        return None
    said = found[1].decode(errors="replace").strip()
    if said.startswith(_MISALIGNED):
        return misaligned()
    if overrun := _OVERRUN.match(said):
        kernel, bytes_, at = overrun[1], int(overrun[2]), int(overrun[3])
        message = (
            f"Kernel {kernel} wrote past the end of its dynamic shared memory: at byte {at:,}, and it was launched "
            f"with {bytes_:,} bytes. Launch it with as many as it uses, or check the index."
        )
        return Failure(Verdict.OUT_OF_BOUNDS, message)
    if said.startswith(_MATRIX):
        message = f"The kernel was stopped: {said}. Let all 64 lanes of a wavefront reach the same matrix instruction."
        return Failure(Verdict.RUNTIME_ERROR, message, reason="missing_lanes")
    message = f"The kernel was stopped, since its threads would wait forever: {said}."
    if _DIVERGED.search(said):
        message += " Take the barrier, or the cross-lane operation, out of the branch, so that all threads reach it."
    return Failure(Verdict.RUNTIME_ERROR, message, reason="deadlock")


def _signal_failure(end: Exit, number: int, *, is_early: bool = False) -> Failure:
    name = signal_name(number)
    if name == "SIGABRT" and _ASSERT_MARK in end.stderr:
        line = next(line for line in end.stderr.splitlines() if _ASSERT_MARK in line).decode(errors="replace")
        said = line.strip().removeprefix("Assertion failed: ")
        return Failure(Verdict.RUNTIME_ERROR, f"An assertion failed: {said}", reason="assert")
    if fault := _fault_of_rocm(end):
        return fault.failure(is_early=is_early)
    hint = _SIGNAL_HINTS.get(name, "it was ended from within its sandbox")
    return Failure(Verdict.RUNTIME_ERROR, f"The program crashed with {name}: {hint}.", reason=f"signal:{name}")


@dataclass(frozen=True)
class _FaultOfRocm:
    """The parts of a message that ROCm's runtime wrote before it aborted; missing parts are empty."""

    address: str
    reason: str
    why: str
    error: str

    @property
    def is_of_the_memory(self) -> bool:
        return _ECC in self.reason or _ECC in self.why

    @property
    def may_be_the_machines(self) -> bool:
        return bool(self.is_of_the_memory or self.why or _HANG in self.reason or self.error == _NO_RESOURCES)

    def failure(self, *, is_early: bool) -> Failure:
        """The verdict if a runner of our own works; `is_early` says that no call had begun."""
        if self.is_of_the_memory:
            return device_fault(f"an uncorrectable memory error ({self.reason or self.why})")
        if is_early and self.error == _NO_RESOURCES:
            return device_fault(f"{self.error} before the first call")
        return Failure(Verdict.RUNTIME_ERROR, self._text(), reason="gpu_fault")

    def _text(self) -> str:
        if self.why or _HANG in self.reason:
            return (
                f"The device was reset during the run ({self.why or self.reason}): look for endless loops and for "
                "blocks that wait for each other. Where there are none, submit it again: a device can fail by itself, "
                "and is tested now."
            )
        if self.address:
            return (
                f"A kernel touched device memory that is not its own, at address {self.address}: check indices, "
                "pointers and sizes."
            )
        if self.error == _NO_RESOURCES:
            return (
                f"The device had no resources left for a kernel ({self.error}): use less private memory for each "
                "thread (large local arrays, deep recursion), and allocate less."
            )
        return f"The device stopped a kernel ({self.error}): check indices, pointers and sizes."


def _of_a_program(failure: Failure) -> Failure:
    """Blames a program for a device fault: its output is sent as it comes, so a forged fault would give free runs."""
    if failure.reason != DEVICE_FAULT:
        return failure
    return Failure(Verdict.RUNTIME_ERROR, failure.message, reason="gpu_fault")


def _fault_of_rocm(end: Exit) -> _FaultOfRocm | None:
    found = _FAULT_OF_ROCM.search(end.stderr) if end.signal == signal.SIGABRT else None
    if found is None:
        return None
    return _FaultOfRocm(
        **{name: (said or b"").decode(errors="replace").strip() for name, said in found.groupdict().items()}
    )
