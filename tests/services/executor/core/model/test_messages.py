from __future__ import annotations

import re
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.call import runner_claims
from services.executor.core.call.runner_claims import claimed_failure, may_be_the_machines
from services.executor.core.model.messages import (
    REPLY_BYTES,
    Order,
    ProtocolError,
    Reply,
    Step,
    order_bytes,
    reply_from_bytes,
)
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.exit_reasons import DEVICE_FAULT
from tests.needs import ROCM

MARK = 0x31525057


def _reply(mark: int, kind: int, step: int, status: int = 0, text: bytes = b"") -> bytes:
    return struct.pack("<IIQIiQQQQ72s", mark, kind, 9, step, status, 1000, 2000, 3000, 4000, text)


@given(st.binary(min_size=REPLY_BYTES, max_size=REPLY_BYTES))
def test_any_bytes_are_a_reply_or_a_protocol_error(data: bytes) -> None:
    try:
        reply_from_bytes(data)
    except ProtocolError:
        return
    assert data.startswith(struct.pack("<I", MARK))


def test_a_reply_is_read_field_by_field() -> None:
    message = reply_from_bytes(_reply(MARK, Reply.DONE, Step.NONE, text=b"name\0rest"))
    assert (message.reply, message.sequence, message.event_ns, message.clock_ns) == (Reply.DONE, 9, 1000, 2000)
    assert (message.stream_ns, message.device_ns) == (3000, 4000)
    assert message.text == "name"


@pytest.mark.parametrize("data", [_reply(0, 3, 0), _reply(MARK, 99, 0), _reply(MARK, 3, 99)])
def test_what_no_runner_of_ours_says_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        reply_from_bytes(data)


def test_an_order_has_the_size_that_the_runner_reads() -> None:
    assert order_bytes(Order.CALL, 5) == struct.pack("<IIQQQ", MARK, 2, 5, 0, 0)
    assert order_bytes(Order.CHAIN, 6, 2**64 - 1, 8) == struct.pack("<IIQQQ", MARK, 6, 6, 2**64 - 1, 8)


@pytest.mark.parametrize(
    ("step", "status", "name", "verdict", "reason"),
    [
        (Step.ALLOCATE, 2, b"hipErrorOutOfMemory", Verdict.MEMORY_LIMIT_EXCEEDED, "vram"),
        (Step.LAUNCH, 2, b"hipErrorOutOfMemory", Verdict.MEMORY_LIMIT_EXCEEDED, "vram"),
        (Step.LAUNCH, 9, b"hipErrorInvalidConfiguration", Verdict.LAUNCH_ERROR, "hipErrorInvalidConfiguration"),
        (Step.LAUNCH, 700, b"hipErrorIllegalAddress", Verdict.RUNTIME_ERROR, "gpu_fault"),
        (Step.RUN, 700, b"hipErrorIllegalAddress", Verdict.RUNTIME_ERROR, "gpu_fault"),
        (Step.LAUNCH, 700, b"cudaErrorIllegalAddress", Verdict.RUNTIME_ERROR, "gpu_fault"),
        (Step.LAUNCH, 719, b"cudaErrorLaunchFailure", Verdict.RUNTIME_ERROR, "gpu_fault"),
        (Step.RUN, 2, b"cudaErrorMemoryAllocation", Verdict.MEMORY_LIMIT_EXCEEDED, "vram"),
        (Step.LAUNCH, 716, b"cudaErrorMisalignedAddress", Verdict.RUNTIME_ERROR, "misaligned"),
        (Step.RUN, 716, b"cudaErrorMisalignedAddress", Verdict.RUNTIME_ERROR, "misaligned"),
        (Step.RUN, 702, b"hipErrorLaunchTimeOut", Verdict.TIME_LIMIT_EXCEEDED, "wall"),
        (Step.LAUNCH, 702, b"cudaErrorLaunchTimeout", Verdict.TIME_LIMIT_EXCEEDED, "wall"),
        (Step.COPY_IN, 700, b"hipErrorIllegalAddress", Verdict.RUNTIME_ERROR, "gpu_fault"),
        (Step.LAUNCH, 77, b"\x1b[31m\n\xff", Verdict.LAUNCH_ERROR, "31m"),
        (Step.LAUNCH, 77, b"", Verdict.LAUNCH_ERROR, "HIP error 77"),
        (Step.LAUNCH, 209, b"hipErrorNoBinaryForGpu", Verdict.LAUNCH_ERROR, "hipErrorNoBinaryForGpu"),
        *(
            (step, status, name, Verdict.INFRA_ERROR, DEVICE_FAULT)
            for step in (Step.COPY_IN, Step.LAUNCH, Step.RUN, Step.COPY_OUT)
            for status, name in [
                (100, b"hipErrorNoDevice"),
                (35, b"hipErrorInsufficientDriver"),
                (214, b"hipErrorECCNotCorrectable"),
                (100, b"cudaErrorNoDevice"),
                (214, b"cudaErrorECCUncorrectable"),
                (46, b"cudaErrorDevicesUnavailable"),
            ]
        ),
    ],
)
def test_a_claimed_hip_error_has_its_verdict(
    step: Step, status: int, name: bytes, verdict: Verdict, reason: str
) -> None:
    failure = claimed_failure(reply_from_bytes(_reply(MARK, Reply.FAILED, step, status, name)))
    assert (failure.verdict, failure.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("step", "name", "is_asked"),
    [
        *((step, b"hipErrorOutOfMemory", True) for step in (Step.ALLOCATE, Step.COPY_IN)),
        (Step.COPY_IN, b"hipErrorIllegalAddress", True),
        *((Step.RUN, name, False) for name in (b"hipErrorLaunchTimeOut", b"cudaErrorLaunchTimeout")),
        *((Step.RUN, name, True) for name in (b"cudaErrorDevicesUnavailable", b"cudaErrorContained")),
        *((Step.LAUNCH, name, True) for name in (b"hipErrorNoBinaryForGpu", b"cudaErrorUnsupportedPtxVersion")),
        *((step, b"hipErrorIllegalAddress", False) for step in (Step.RUN, Step.LAUNCH)),
        *((Step.COPY_OUT, name, True) for name in (b"hipErrorIllegalAddress", b"hipErrorInvalidValue")),
        *((Step.RUN, name, True) for name in (b"hipErrorUnknown", b"cudaErrorUnknown", b"cudaErrorExternalDevice")),
        *((Step.LAUNCH, name, True) for name in (b"hipErrorRuntimeMemory", b"hipErrorRuntimeOther")),
        (Step.LAUNCH, b"hipErrorSharedObjectInitFailed", True),
        (Step.LAUNCH, b"hipErrorOutOfMemory", False),
        *((Step.RUN, name, True) for name in (b"hipErrorNoDevice", b"cudaErrorNoDevice")),
        *((Step.LAUNCH, name, True) for name in (b"hipErrorInsufficientDriver", b"cudaErrorECCUncorrectable")),
    ],
)
def test_what_the_runner_does_itself_or_no_kernel_can_cause_may_be_the_machines(
    step: Step, name: bytes, is_asked: bool
) -> None:
    assert may_be_the_machines(reply_from_bytes(_reply(MARK, Reply.FAILED, step, 1, name))) is is_asked


KNOWN = runner_claims._OF_THE_MACHINE | runner_claims._OF_EITHER | runner_claims._FAULTS
OF_HIP_ALONE = {
    *("Deinitialized", "ECCNotCorrectable", "NoBinaryForGpu", "NotInitialized", "RuntimeMemory", "RuntimeOther"),
}
OF_BOTH = {
    *("Assert", "IllegalAddress", "IllegalState", "InitializationError", "InsufficientDriver", "LaunchFailure"),
    *("NoDevice", "OperatingSystem", "SharedObjectInitFailed", "Unknown"),
}


@pytest.mark.rocm
def test_the_names_of_errors_are_those_of_hips_own_header() -> None:
    header = (ROCM / "include" / "hip" / "hip_runtime_api.h").read_text("utf-8")
    assert KNOWN & set(re.findall(r"\bhipError(\w+)\s*=\s*\d+", header)) == OF_HIP_ALONE | OF_BOTH


@pytest.mark.cuda
def test_the_names_of_errors_are_those_of_cudas_own_header() -> None:
    command = ["nvcc", "-E", "-x", "cu", "-"]
    header = subprocess.run(command, input="#include <driver_types.h>\n", capture_output=True, check=True, text=True)
    of_cuda = set(re.findall(r"\bcudaError(\w+)\s*=\s*\d+", header.stdout))
    assert KNOWN & of_cuda == KNOWN - OF_HIP_ALONE
