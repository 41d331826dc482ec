"""A GPU type that only VMPOOL_GPU_TYPES names can be requested everywhere, through every process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, reference, start

PRICES = [("MI325X", 2.29), ("MI300X", 1.99)]


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool whose operator rents MI325X, too."""
    running = start(
        tmp_path_factory.mktemp("newer"),
        VMPOOL_GPU_TYPES="MI300X,MI325X",
        VMPOOL_DEFAULT_GPU="MI325X",
        BILLING_HOURLY_RATES='{"MI325X": 2.29}',
    )
    yield running
    running.stop()


def test_the_price_list_has_it(newer: Wavepool) -> None:
    listed = newer.http.get("/api/v1/gpu-types").json()["gpu_types"]
    assert [(gpu["gpu_type"], gpu["price_usd_per_hour"]) for gpu in listed] == PRICES


def test_a_submission_runs_on_it_by_name_by_default_and_as_a_fallback(newer: Wavepool) -> None:
    for asked in ({"gpu_type": "mi325x"}, {}, {"gpu_type": "MI300X", "fallback_gpu_types": ["MI325X"]}):
        job_id = newer.submit(reference("leaky-relu"), mode="check", **asked)
        end = newer.story(job_id)[-1]
        assert (end.event, end.data["machine_gpu_type"]) == ("CHECKED", "MI325X"), end
        assert newer.job(job_id)["gpu_type"] == asked.get("gpu_type", "MI325X").upper()


def test_it_is_charged_at_its_own_price(newer: Wavepool) -> None:
    job_id = newer.submit(reference("leaky-relu"), mode="check")
    end = newer.story(job_id)[-1].data
    exact_micros = end["billable_seconds"] * 2_290_000 / 3600
    assert 0 <= end["cost_usd"] * 1_000_000 - exact_micros < 1 + 1e-3


def test_what_is_not_in_the_setting_is_refused_with_what_is(newer: Wavepool) -> None:
    body = {"problem": "leaky-relu", "code": "x", "mode": "check", "gpu_type": "MI210"}
    answer = newer.http.post("/api/v1/submissions", json=body)
    assert answer.status_code == 422
    assert "must be one of MI325X, MI300X" in answer.text


def test_providers_offer_it_and_a_machine_of_it_can_be_requested(newer: Wavepool) -> None:
    offers = newer.http.get("/api/v1/offers", params={"gpu_type": "mi325x"}).json()["offers"]
    assert [(offer["provider"], offer["gpu_type"]) for offer in offers] == [("local", "MI325X")]
    ordered = newer.http.post("/api/v1/machines", json={"gpu_type": "MI325X"})
    assert ordered.status_code == 202, ordered.text
    assert ordered.json()["machine"]["gpu_type"] == "MI325X"


def test_the_command_submits_to_it(newer: Wavepool, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = tmp_path_factory.mktemp("source") / "solution.hip"
    source.write_text(reference("leaky-relu"))
    where = ["--endpoint", newer.endpoint, "--token", newer.http.headers["Authorization"].removeprefix("Bearer ")]
    asked = ["-p", "leaky-relu", "--mode", "check", "--gpu", "MI325X", "--json"]
    command = [sys.executable, "-m", "wavepool_client.main", "submit", str(source), *asked, *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "CHECKED"
