from __future__ import annotations

import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.exit_reasons import (
    DEVICE_FAULT,
    build_limit_failure,
    may_be_the_machines,
    program_failure,
    runner_failure,
    strain,
)
from services.executor.sandboxes.sandbox import Exit
from tests.needs import ROCM

LIMITS = StageLimits().runner
WELL = Exit(code=0, signal=None, stdout=b"", stderr=b"")


def _killed(number: int, stderr: bytes = b"") -> Exit:
    return Exit(code=None, signal=number, stdout=b"", stderr=stderr)


@given(
    st.builds(
        Exit,
        code=st.none() | st.integers(0, 255),
        signal=st.none() | st.integers(1, 128),
        stdout=st.binary(),
        stderr=st.binary() | st.just(b"x: Assertion `a' failed."),
    )
)
def test_a_runner_that_ends_by_itself_never_succeeds(end: Exit) -> None:
    assert runner_failure(end, LIMITS, 3).verdict not in {Verdict.ACCEPTED, Verdict.INFRA_ERROR}


@pytest.mark.parametrize(
    ("end", "verdict", "reason"),
    [
        (WELL, Verdict.RUNTIME_ERROR, "early_exit"),
        (replace(WELL, code=3), Verdict.RUNTIME_ERROR, "early_exit"),
        (replace(WELL, code=86), Verdict.RUNTIME_ERROR, "early_exit"),
        (replace(WELL, code=86, stderr=b"x\nwavepool: divergent"), Verdict.RUNTIME_ERROR, "deadlock"),
        (replace(WELL, code=86, stderr=b"wavepool: misaligned vector access"), Verdict.RUNTIME_ERROR, "misaligned"),
        (
            replace(
                WELL,
                code=86,
                stderr=b"wavepool: overrun of shared memory in kernel k: launched with 8 bytes, written at 12",
            ),
            Verdict.OUT_OF_BOUNDS,
            "",
        ),
        (_killed(signal.SIGSEGV), Verdict.RUNTIME_ERROR, "signal:SIGSEGV"),
        (_killed(signal.SIGABRT, b"a.hip:3: f: Assertion `x' failed."), Verdict.RUNTIME_ERROR, "assert"),
        (_killed(signal.SIGABRT), Verdict.RUNTIME_ERROR, "signal:SIGABRT"),
        (_killed(99), Verdict.RUNTIME_ERROR, "signal:SIG99"),
        (replace(_killed(signal.SIGKILL), memory_exceeded=True), Verdict.MEMORY_LIMIT_EXCEEDED, "host"),
        # Its own orders' time limit ends it long before, so the rest of the limit is the judge's.
        (replace(_killed(signal.SIGKILL), wall_exceeded=True), Verdict.INFRA_ERROR, ""),
        (replace(_killed(signal.SIGXCPU), cpu_exceeded=True), Verdict.TIME_LIMIT_EXCEEDED, "cpu"),
        (replace(_killed(signal.SIGXFSZ), files_exceeded=True), Verdict.RUNTIME_ERROR, "files"),
    ],
)
def test_the_end_of_a_runner_says_why(end: Exit, verdict: Verdict, reason: str) -> None:
    failure = runner_failure(end, LIMITS, 0)
    assert (failure.verdict, failure.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            b"Memory access fault by GPU node-1 (Agent handle: 0x55ac) on address 0x7f9587e00000. Reason: Page not pre",
            "device memory that is not its own, at address 0x7f9587e00000: check indices",
        ),
        (
            b"HW Exception by GPU node-1 (Agent handle: 0x1b0fc990) reason :GPU Hang",
            "The device was reset during the run (GPU Hang): look for endless loops",
        ),
        (
            b":0:rocdevice.cpp:29: Callback: Queue 0x7f Aborting with error : HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: x",
            "The device stopped a kernel (HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION)",
        ),
        (
            b"Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation. code: 0x1016",
            "The device stopped a kernel (HSA_STATUS_ERROR_EXCEPTION)",
        ),
    ],
)
def test_what_rocm_says_before_it_aborts_is_reported_as_the_devices_fault(stderr: bytes, said: str) -> None:
    failure = runner_failure(_killed(signal.SIGABRT, b"so far\n" + stderr), LIMITS, 3)
    assert (failure.verdict, failure.reason) == (Verdict.RUNTIME_ERROR, "gpu_fault")
    assert said in failure.message
    assert runner_failure(_killed(signal.SIGSEGV, stderr), LIMITS, 3).reason == "signal:SIGSEGV"


FAULT = b"Memory access fault by GPU node-1 (Agent handle: 0x55ac) on address %s. Reason: %s.\n"
HANG = FAULT % (b"0x7f9587e00000(may not be exact address)", b"Generic hang recovery")
RESET = b"HW Exception by GPU node-1 (Agent handle: 0x1b0fc990) reason :GPU Hang\n"
NO_RESOURCES = (
    b":0:rocdevice.cpp:3006: 1 us: Callback: Queue 0x7f Aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The "
    b"runtime failed to allocate the necessary resources. Code: 0x1008 Available Free mem : 12 MB\n"
)


@pytest.mark.parametrize(
    ("stderr", "is_asked", "early", "late"),
    [
        *(
            (FAULT % (b"0x7f0000", reason), True, *[Verdict.INFRA_ERROR] * 2)
            for reason in (b"DRAM ECC failure", b"SRAM ECC failure")
        ),
        (b"HW Exception by GPU node-1 (Agent handle: 0x1b) reason :ECC\n", True, *[Verdict.INFRA_ERROR] * 2),
        (NO_RESOURCES, True, Verdict.INFRA_ERROR, Verdict.RUNTIME_ERROR),
        *((hang, True, *[Verdict.RUNTIME_ERROR] * 2) for hang in (HANG, RESET)),
        *(
            (FAULT % (b"(nil)", reason), False, *[Verdict.RUNTIME_ERROR] * 2)
            for reason in (b"Unknown", b"Host access only")
        ),
    ],
)
def test_what_rocm_says_is_the_machines_where_no_kernel_causes_it_and_asked_of_ours_where_either_may(
    stderr: bytes, is_asked: bool, early: Verdict, late: Verdict
) -> None:
    end = _killed(signal.SIGABRT, stderr)
    assert may_be_the_machines(end) is is_asked
    assert runner_failure(end, LIMITS, 0, is_early=True).verdict is early
    failure = runner_failure(end, LIMITS, 0)
    assert (failure.verdict, failure.reason) == (late, DEVICE_FAULT if late is Verdict.INFRA_ERROR else "gpu_fault")
    assert not may_be_the_machines(replace(WELL, stderr=stderr)), "only of who was aborted"
    assert ("was reset" in failure.message) is (stderr in {HANG, RESET})
    of_program = program_failure(end, LIMITS)
    assert of_program is not None
    assert of_program.verdict is Verdict.RUNTIME_ERROR, "its output was sent already"


@pytest.mark.rocm
def test_the_words_that_are_looked_for_are_rocms_own() -> None:
    """Compares only the formats that are text in the libraries; their fields are filled in when printed."""
    library = ROCM / "lib" / "x86_64-linux-gnu"
    of_hsa, of_hip = ((library / name).read_bytes() for name in ("libhsa-runtime64.so.1", "libamdhip64.so.6"))
    assert b"Memory access fault by GPU node-%u (Agent handle: %p) on address %p%s. Reason: %s.\n" in of_hsa
    assert b"HW Exception by GPU node-%u (Agent handle: %p) reason :%s\n" in of_hsa
    for reason in (b"DRAM ECC failure", b"SRAM ECC failure", b"Generic hang recovery", b"Host access only"):
        assert b"\0" + reason + b"\0" in of_hsa
    assert b"Callback: Queue %p Aborting with error : %s Code: 0x%x Available Free mem : %zu MB" in of_hip


def test_threads_that_wait_forever_are_named() -> None:
    stuck = replace(WELL, code=86, stderr=b"so far\nwavepool: divergent __syncthreads in kernel add: thread 3\n")
    said = "since its threads would wait forever: divergent __syncthreads in kernel add: thread 3."
    for failure in (runner_failure(stuck, LIMITS, 0), program_failure(stuck, LIMITS)):
        assert failure is not None
        assert said in failure.message


def test_a_matrix_instruction_without_all_lanes_is_no_deadlock() -> None:
    said = b"matrix instruction without all 64 lanes of its wavefront in kernel mm, block (0, 0, 0): thread (64, 0, 0)"
    failure = runner_failure(replace(WELL, code=86, stderr=b"wavepool: " + said + b"\n"), LIMITS, 0)
    assert (failure.verdict, failure.reason) == (Verdict.RUNTIME_ERROR, "missing_lanes")
    assert failure.message.startswith(f"The kernel was stopped: {said.decode()}. Let all 64 lanes")


def test_an_assertion_is_reported_once() -> None:
    failure = runner_failure(_killed(signal.SIGABRT, b"Assertion failed: n < 5 (a.hip: add: 4)"), LIMITS, 0)
    assert failure.message == "An assertion failed: n < 5 (a.hip: add: 4)"


def test_a_program_may_end_well_but_not_otherwise() -> None:
    assert program_failure(WELL, LIMITS) is None
    failed = program_failure(replace(WELL, code=4), LIMITS)
    assert failed is not None
    assert (failed.verdict, failed.reason) == (Verdict.RUNTIME_ERROR, "exit_status")
    flooded = program_failure(replace(WELL, output_truncated=True), LIMITS)
    assert flooded is not None
    assert flooded.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (replace(WELL, processes_refused=True), "more than the 64 processes and threads"),
        (replace(WELL, peak_memory_mib=3000), "filled 3,000 MiB of host memory (of at most 16,384)"),
    ],
)
def test_what_cost_a_program_its_time_is_reported_with_the_time_limit(end: Exit, said: str) -> None:
    assert said in strain(end, LIMITS)
    late = program_failure(replace(end, wall_exceeded=True), LIMITS)
    assert late is not None
    assert said in late.message


def test_an_ordinary_program_is_suspected_of_nothing() -> None:
    assert strain(replace(WELL, peak_memory_mib=300), LIMITS) == ""


@pytest.mark.parametrize(
    ("end", "reason", "said"),
    [
        (
            replace(WELL, wall_exceeded=True),
            "wall",
            "not done after 90 seconds and what it waited for other work (240",
        ),
        (replace(WELL, cpu_exceeded=True), "cpu", "60 seconds of processor time"),
        (replace(WELL, memory_exceeded=True), "host", "4096 MiB of memory"),
        (replace(WELL, files_exceeded=True), "files", "256 MiB of files"),
        (replace(WELL, code=128 + signal.SIGXCPU), "cpu", "60 seconds of processor time"),
        (replace(WELL, code=128 + signal.SIGXFSZ), "files", "256 MiB of files"),
        (replace(WELL, code=128 + signal.SIGKILL), "sandbox", "what its sandbox allows"),
        (_killed(signal.SIGKILL), "sandbox", "what its sandbox allows"),
    ],
)
def test_a_builder_at_its_limit_is_the_sources_fault(end: Exit, reason: str, said: str) -> None:
    failure = build_limit_failure(end, StageLimits().builder, "text so far")
    assert failure is not None
    assert (failure.verdict, failure.reason, failure.details) == (Verdict.COMPILE_LIMIT, reason, "text so far")
    assert said in failure.message


def test_a_builder_that_waited_for_a_busy_machine_is_given_time_and_not_blamed() -> None:
    limits = StageLimits().builder
    assert limits.busy_wall is not None
    assert limits.busy_wall >= 4 * limits.cpu
    failure = build_limit_failure(replace(WELL, wall_exceeded=True), limits, "")
    assert failure is not None
    assert "this machine is too busy" in failure.message
    assert "shorten" not in failure.message


def test_a_builder_that_ends_by_itself_is_at_no_limit() -> None:
    for end in (replace(WELL, code=1), replace(WELL, code=128 + signal.SIGSEGV), _killed(signal.SIGSEGV)):
        assert build_limit_failure(end, StageLimits().builder, "") is None
