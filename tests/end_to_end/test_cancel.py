from __future__ import annotations

import secrets
from collections.abc import Iterator

import psutil
import pytest

from tests.end_to_end.wavepool_processes import Wavepool, kernel, start, until

SLOWER = kernel("slow_leaky_relu").replace("20 * 1000 * 1000", "999 * 1000 * 1000")
"""Is checked for ten seconds and more, so that a cancellation is not too late on a busy machine."""
STAGES = {
    # A build that has been kept would be there at once.
    "COMPILING": (f"{kernel('many_templates')}// {secrets.token_hex(8)}\n", "check"),
    "CHECKING": (SLOWER, "check"),
    "BENCHMARKING": (kernel("slow_leaky_relu"), "benchmark"),
    "SANDBOX_OUTPUT": (kernel("counts_slowly"), "sandbox"),
}


def cancel(wavepool: Wavepool, job_id: str) -> None:
    answer = wavepool.http.post(f"/api/v1/submissions/{job_id}/cancel")
    assert answer.status_code in {200, 202}, answer.text


def assert_cancelled(wavepool: Wavepool, job_id: str) -> None:
    assert wavepool.ended(job_id)["state"] == "CANCELLED"
    assert wavepool.story(job_id)[-1].event == "CANCELLED"
    assert len(wavepool.charges(job_id)) <= 1


@pytest.fixture
def cold_wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    running = start(tmp_path_factory.mktemp("cold"))
    yield running
    running.stop()


@pytest.mark.parametrize("stage", STAGES)
def test_a_job_is_cancelled_in_each_stage(wavepool: Wavepool, stage: str) -> None:
    source, mode = STAGES[stage]
    job_id = wavepool.submit(source, mode, problem="" if mode == "sandbox" else "leaky-relu")
    wavepool.wait_for_status(job_id, stage)
    cancel(wavepool, job_id)
    assert_cancelled(wavepool, job_id)


def test_a_job_is_cancelled_while_it_waits_for_its_turn(wavepool: Wavepool) -> None:
    ahead = wavepool.submit(kernel("counts_slowly"), "sandbox", problem="")
    wavepool.wait_for_status(ahead, "SANDBOX_OUTPUT")
    waiting = wavepool.submit(kernel("slow_leaky_relu"), "check")
    cancel(wavepool, waiting)
    assert_cancelled(wavepool, waiting)
    assert wavepool.charges(waiting) == []
    cancel(wavepool, ahead)
    assert_cancelled(wavepool, ahead)


def test_a_job_is_cancelled_while_its_machine_starts(cold_wavepool: Wavepool) -> None:
    job_id = cold_wavepool.submit(SLOWER, "check")
    cold_wavepool.wait_for_status(job_id, "PROVISIONING")
    cancel(cold_wavepool, job_id)
    assert_cancelled(cold_wavepool, job_id)


def test_cancelling_twice_or_after_the_end_changes_nothing(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(kernel("does_not_compile"), "check")
    before = wavepool.ended(job_id)
    cancel(wavepool, job_id)
    cancel(wavepool, job_id)
    assert wavepool.job(job_id) == before


def test_a_cancelled_program_leaves_no_process(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(kernel("counts_slowly"), "sandbox", problem="")
    wavepool.wait_for_status(job_id, "SANDBOX_OUTPUT")
    programs = _programs(wavepool)
    assert programs
    cancel(wavepool, job_id)
    assert_cancelled(wavepool, job_id)
    until(lambda: not any(program.is_running() for program in programs), "the program's end")


def _programs(wavepool: Wavepool) -> list[psutil.Process]:
    """The programs of this Wavepool's executor: other tests run programs too."""
    executor = wavepool.process_of("executor")
    assert executor is not None
    return [each for each in executor.children(recursive=True) if each.name() == "program"]
