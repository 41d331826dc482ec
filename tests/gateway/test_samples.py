"""Every sample of a benchmark, with its session and the state of the device."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.executor.v1.run_event_pb2 import BenchmarkResult
from wavepool.submission.v1 import submission_pb2

from tests.gateway.job_events import ACCEPTED, WRONG, ended, whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/v1/submissions/job_1/samples"
FULL = submission_pb2.RUN_MODE_FULL
TIMES = BenchmarkResult(
    test_id=2,
    name="n = 2048",
    sample_ns=[2.4e6, 2.5e6, 2.6e6],
    session_samples=[2, 1],
    session_median_ns=[2.45e6, 2.6e6],
    replaced=[run_event_pb2.ReplacedSample(session=0, index=1, ns=9e6, cause="clock")],
    instruments=[
        run_event_pb2.InstrumentReading(sample=0, time_ms=1.5, clock_mhz=2100, temperature_celsius=71),
        run_event_pb2.InstrumentReading(sample=2, time_ms=9.5, power_watts=612),
    ],
)
REPORTED = {
    "test_id": 2,
    "name": "n = 2048",
    "sessions": [
        {"session": 1, "samples_ms": [2.4, 2.5], "replaced": [{"index": 1, "ms": 9.0, "cause": "clock"}]},
        {"session": 2, "samples_ms": [2.6], "replaced": []},
    ],
    "instruments": [
        {"sample": 0, "time_ms": 1.5, "clock_mhz": 2100.0, "temperature_celsius": 71.0, "power_watts": None},
        {"sample": 2, "time_ms": 9.5, "clock_mhz": None, "temperature_celsius": None, "power_watts": 612.0},
    ],
}


def measured(*results: BenchmarkResult) -> run_event_pb2.Finished:
    finished = run_event_pb2.Finished()
    finished.CopyFrom(ACCEPTED)
    finished.benchmarked.results.extend(results)
    return finished


async def test_the_samples_of_all_cases_or_of_one_come_in_order_by_session(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(job_spec(mode=FULL))
    await gateway.services.scheduler.add(*whole_run(FULL, measured(TIMES)))
    everything = (await gateway.http.get(PATH)).json()
    assert everything["id"] == "job_1"
    first, second = everything["cases"]
    # An older machine does not say where its sessions end, and this device has no instruments.
    assert first["sessions"] == [{"session": None, "samples_ms": [2.4, 2.5, 2.6], "replaced": []}]
    assert first["instruments"] == []
    assert second == REPORTED
    assert (await gateway.http.get(f"{PATH}?test_id=2")).json()["cases"] == [REPORTED]


async def test_a_test_case_that_is_none_is_refused_with_those_there_are(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(job_spec(mode=FULL))
    await gateway.services.scheduler.add(*whole_run(FULL, measured(TIMES)))
    unknown = await gateway.http.get(f"{PATH}?test_id=3")
    assert (unknown.status_code, unknown.json()["detail"]) == (
        404,
        "Submission job_1 has no test case 3; it has 1, 2.",
    )
    assert (await gateway.http.get(f"{PATH}?test_id=first")).status_code == 422


@pytest.mark.parametrize(
    ("mode", "result", "why"),
    [
        (FULL, None, "it has not ended yet"),
        (FULL, WRONG, "it ended before all of its times were measured"),
        (submission_pb2.RUN_MODE_CHECK, WRONG, "its mode is check, and only `benchmark` and `full` measure times"),
    ],
)
async def test_a_submission_without_samples_says_why(
    gateway: RunningGateway, mode: Any, result: run_event_pb2.Finished | None, why: str
) -> None:
    gateway.services.scheduler.put_job(job_spec(mode=mode))
    if result is not None:
        await gateway.services.scheduler.add(ended(1, result))
    answer = await gateway.http.get(PATH)
    assert (answer.status_code, answer.json()["detail"]) == (404, f"Submission job_1 has no samples: {why}.")


async def test_ten_thousand_samples_are_compressed(gateway: RunningGateway) -> None:
    many = BenchmarkResult(
        test_id=2, sample_ns=[2e6 + number * 7 for number in range(10_000)], session_samples=[10_000]
    )
    gateway.services.scheduler.put_job(job_spec(mode=FULL))
    await gateway.services.scheduler.add(*whole_run(FULL, measured(many)))
    async with gateway.http.stream("GET", f"{PATH}?test_id=2", headers={"Accept-Encoding": "gzip"}) as answer:
        data = b"".join([piece async for piece in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == "gzip"
    [case] = json.loads(gzip.decompress(data))["cases"]
    assert len(case["sessions"][0]["samples_ms"]) == 10_000
    assert len(data) < 60_000
