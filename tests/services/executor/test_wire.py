from __future__ import annotations

import pytest
from wavepool.submission.v1 import submission_pb2

from problems.kit.definition import SizeSet
from services.executor.core.run.installation import catalogue
from services.executor.leases.authentication import Caller
from services.executor.leases.errors import InvalidFieldError
from services.executor.wire.requests import RunDecoder
from submissions.modes import TimingMode
from tests.services.executor.client import request

FULL = submission_pb2.RUN_MODE_FULL


@pytest.mark.parametrize(
    ("number", "mode"),
    [
        (submission_pb2.TIMING_MODE_UNSPECIFIED, None),
        (submission_pb2.TIMING_MODE_COLD, TimingMode.COLD),
        (submission_pb2.TIMING_MODE_HOT, TimingMode.HOT),
        (submission_pb2.TIMING_MODE_FIRST_CALL, TimingMode.FIRST_CALL),
    ],
)
def test_a_job_is_timed_as_it_is_asked_for(
    number: submission_pb2.TimingMode.ValueType, mode: TimingMode | None
) -> None:
    decoder = RunDecoder(catalogue(), SizeSet.CPU, 8)
    spec = decoder.decode(request("source", mode=FULL, timing_mode=number), Caller.LEASE_HOLDER)
    assert spec.job.timing_mode is mode


@pytest.mark.parametrize("can_mask", [True, False])
def test_compute_units_are_masked_only_on_a_device_that_can(can_mask: bool) -> None:
    decoder = RunDecoder(catalogue(), SizeSet.CPU, 8, masks_compute_units=can_mask)
    asked = request("source", mode=FULL)
    asked.mask_compute_units = True
    if can_mask:
        assert decoder.decode(asked, Caller.LEASE_HOLDER).mask_compute_units
    else:
        with pytest.raises(InvalidFieldError, match="mask_compute_units: this machine's device has none to mask"):
            decoder.decode(asked, Caller.LEASE_HOLDER)
