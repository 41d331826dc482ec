"""Jobs of several GPUs and of parts of one, through every process; the GPUs are this host's processors."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, kernel, reference, start

HALF = {"fraction": 0.5, "isolation": "time-slice"}
PRICE_MICROS_PER_HOUR = 1_990_000


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool with machines of two GPUs, each of which two runs may share."""
    running = start(
        tmp_path_factory.mktemp("shared"),
        VMPOOL_GPUS_PER_MACHINE="2",
        VMPOOL_MAX_MACHINES="1",
        EXECUTOR_MAX_RUNS="4",
    )
    yield running
    running.stop()


def end_of(wavepool: Wavepool, mode: str, resources: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The last event of a submission, and the submission itself."""
    job_id = wavepool.submit(reference("leaky-relu"), mode=mode, resources=resources)
    return wavepool.story(job_id)[-1].data, wavepool.job(job_id)


def test_a_job_takes_both_gpus_of_a_machine_and_pays_for_both(shared: Wavepool) -> None:
    end, job = end_of(shared, "check", {"gpus": 2})

    assert (job["verdict"], job["resources"]["gpus"]) == ("ACCEPTED", 2)
    exact_micros = Decimal(str(end["billable_seconds"])) * 2 * PRICE_MICROS_PER_HOUR / 3600
    assert 0 <= Decimal(str(end["cost_usd"])) * 1_000_000 - exact_micros < Decimal("1.001")


def test_a_range_gets_both_gpus_of_a_machine_that_has_no_more_and_pays_for_both(shared: Wavepool) -> None:
    end, job = end_of(shared, "check", {"gpus": {"min": 1, "max": 4}})

    assert (job["verdict"], job["resources"]["min_gpus"], job["resources"]["gpus"]) == ("ACCEPTED", 1, 4)
    assert job["got_gpus"] == 2
    exact_micros = Decimal(str(end["billable_seconds"])) * 2 * PRICE_MICROS_PER_HOUR / 3600
    assert 0 <= Decimal(str(end["cost_usd"])) * 1_000_000 - exact_micros < Decimal("1.001")


@pytest.mark.parametrize("isolation", ["time-slice", "cu-mask"])
def test_a_part_is_rounded_up_paid_for_by_its_size_and_its_time_is_unproven(shared: Wavepool, isolation: str) -> None:
    end, job = end_of(shared, "full", {"fraction": 0.3, "isolation": isolation})

    assert (job["verdict"], job["resources"]["fraction"], job["timing_status"]) == ("ACCEPTED", 0.5, "UNPROVEN")
    assert job["resources"]["isolation"] == isolation
    assert "ask for a whole GPU" in str(end)
    exact_micros = Decimal(str(end["billable_seconds"])) / 2 * PRICE_MICROS_PER_HOUR / 3600
    assert 0 <= Decimal(str(end["cost_usd"])) * 1_000_000 - exact_micros < Decimal("1.001")


def test_halves_of_one_gpu_run_at_the_same_time(shared: Wavepool) -> None:
    # It counts for a minute.
    first = shared.submit(kernel("counts_slowly"), mode="sandbox", problem="", resources=HALF)
    shared.wait_for_status(first, "SANDBOX_OUTPUT")
    second = shared.ended(shared.submit(reference("leaky-relu"), mode="full", resources=HALF))
    beside = shared.job(first)

    assert (second["verdict"], beside["state"]) == ("ACCEPTED", "RUNNING")
    assert second["machine_id"] == beside["machine_id"]

    assert shared.http.post(f"/api/v1/submissions/{first}/cancel").is_success
    shared.ended(first)


def test_a_partition_is_not_to_be_had_of_a_processor_which_a_refusal_says_and_why_to_whom_waits(
    shared: Wavepool,
) -> None:
    # From then on the modes of the machine's GPUs are known.
    end_of(shared, "check", {})
    body = {"problem": "leaky-relu", "code": reference("leaky-relu"), "mode": "check", "resources": {"fraction": 0.5}}
    refused = shared.http.post("/api/v1/submissions", json=body)
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == "resources.fraction"
    assert "can give 4/8 of a GPU (partition)" in error["message"]
    assert "`time-slice`" in error["message"]

    waits = shared.http.post("/api/v1/submissions", json=body | {"machine": {"wait_for_operator": True}})
    assert waits.status_code == 202
    path = f"/api/v1/submissions/{waits.json()['id']}"
    why = shared.http.get(f"{path}/why").json()
    shared.http.delete(path)
    assert "can give 4/8 of a GPU (partition)" in why["reason"]
    assert "Ask for a whole GPU" in why["remedy"]


def test_more_than_a_gpu_has_and_what_contradicts_itself_are_refused_with_the_fix(shared: Wavepool) -> None:
    for resources, field, hint in (
        ({"gpus": 3}, "resources.gpus", "one of 1, 2, 4, 8"),
        ({"gpus": 2, "fraction": 0.5}, "resources", "give one of"),
        ({"fraction": 0.5, "quiet": True}, "resources.quiet", "ask for a whole GPU"),
    ):
        body = {"problem": "leaky-relu", "code": "x", "mode": "check", "resources": resources}
        answer = shared.http.post("/api/v1/submissions", json=body)
        assert answer.status_code == 422
        assert [error["field"] for error in answer.json()["errors"]] == [field]
        assert hint in answer.text
