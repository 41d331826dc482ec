from __future__ import annotations

import pytest
from wavepool.executor.v1 import executor_pb2

from problems.kit.definition import SizeSet
from services.executor.core.run.installation import catalogue
from services.executor.core.timing.timing_mode import TimingMode
from services.executor.leases.authentication import Caller
from services.executor.wire.requests import RunDecoder
from tests.services.executor.client import request

FULL = executor_pb2.RUN_MODE_FULL


@pytest.mark.parametrize(
    ("number", "mode"),
    [
        (executor_pb2.TIMING_MODE_UNSPECIFIED, None),
        (executor_pb2.TIMING_MODE_COLD, TimingMode.COLD),
        (executor_pb2.TIMING_MODE_HOT, TimingMode.HOT),
        (executor_pb2.TIMING_MODE_FIRST_CALL, TimingMode.FIRST_CALL),
    ],
)
def test_a_job_is_timed_as_it_is_asked_for(number: executor_pb2.TimingMode.ValueType, mode: TimingMode | None) -> None:
    decoder = RunDecoder(catalogue(), SizeSet.CPU, 8)
    spec = decoder.decode(request("source", mode=FULL, timing_mode=number), Caller.LEASE_HOLDER)
    assert spec.job.timing_mode is mode


def test_every_timing_mode_has_a_number_of_its_name() -> None:
    names = {name.removeprefix("TIMING_MODE_").lower().replace("_", "-") for name, _ in executor_pb2.TimingMode.items()}
    assert names == {"unspecified", *TimingMode}
