"""The request of a Tensara front end, sent by curl to a fresh install with torch and to one without.

Such a client always sends a problem definition, names the problem by a slug of its own, and knows nothing of torch.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import ROOT, Wavepool, start

DEFINITIONS = ROOT / "tests" / "services" / "executor" / "core" / "definitions"
RIGHT = (DEFINITIONS / "matmul.hip").read_text()
SECONDS = 120


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool whose machines have no torch: the torch on this machine is installed for another Python."""
    running = start(tmp_path_factory.mktemp("without-torch"), EXECUTOR_TORCH_PYTHON=sys.executable)
    yield running
    running.stop()


def curl(wavepool: Wavepool, code: str, **changes: str) -> list[dict[str, Any]]:
    """Sends the front end's request; returns the data of every frame."""
    body = {
        "solution_code": code,
        "problem": "matmul",
        "problem_def": (DEFINITIONS / "matmul.py").read_text(),
        "gpu_type": "MI300X",
        "dtype": "float32",
        "language": "hip",
        "endpoint": "checker",
        **changes,
    }
    token = (wavepool.data_dir / "token").read_text().strip()
    command = ["curl", "--silent", "--show-error", "--no-buffer", "--noproxy", "*", "--max-time", str(SECONDS)]
    command += ["--header", f"Authorization: Bearer {token}", "--header", "Content-Type: application/json"]
    command += ["--data-binary", "@-", f"{wavepool.endpoint}/api/amd/submit"]
    done = subprocess.run(command, input=json.dumps(body), capture_output=True, text=True, check=True)
    lines = [line.removeprefix("data: ") for line in done.stdout.splitlines() if line.startswith("data: ")]
    frames: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert frames, done.stdout
    assert len({frame["submission_id"] for frame in frames}) == 1
    return [frame for frame in frames if frame["status"] != "heartbeat"]


def slow(code: str) -> str:
    """Computes the same sums forty times: on an idle machine a benchmark may end before it has sent anything."""
    again = "for (volatile int times = 0; times < 40; times = times + 1) for (size_t i = (sum = 0, 0); i < k; ++i)"
    repeated = code.replace("for (size_t i = 0; i < k; ++i)", again)
    assert repeated != code
    return repeated


def broken(code: str) -> str:
    wrong = code.replace("+=", "=")
    assert wrong != code
    return wrong


@pytest.mark.torch
def test_with_torch_the_definition_judges_the_kernel(wavepool: Wavepool) -> None:
    right = curl(wavepool, RIGHT)[-1]
    assert (right["status"], right["verdict"]) == ("CHECKED", "ACCEPTED"), right
    assert "its author's own definition" in right["message"]
    assert {result["name"] for result in right["test_results"]} == {
        *("33x65 x 65x17", "64x64 x 64x64"),
        "8192x8192 x 8192x8192, made smaller: m=256, n=256, k=256",
    }
    wrong = curl(wavepool, broken(RIGHT))[-1]
    assert (wrong["status"], wrong["verdict"]) == ("WRONG_ANSWER", "WRONG_ANSWER"), wrong
    machines = wavepool.http.get("/api/v1/machines").json()["machines"]
    assert all(machine["torch_version"] for machine in machines)


def test_without_torch_the_catalogue_judges_the_kernel_and_says_so(without_torch: Wavepool) -> None:
    story = curl(without_torch, RIGHT)
    right = story[-1]
    assert (right["status"], right["verdict"]) == ("CHECKED", "ACCEPTED"), right
    [compiled] = [frame for frame in story if frame["status"] == "COMPILED"]
    assert "the catalogue's `matrix-multiplication` is used in its place" in compiled["warnings"]
    assert right["billable_seconds"] > 0
    wrong = curl(without_torch, broken(RIGHT))[-1]
    assert (wrong["status"], wrong["verdict"]) == ("WRONG_ANSWER", "WRONG_ANSWER"), wrong


def test_without_torch_a_problem_of_the_client_s_own_is_refused_while_a_machine_stands(without_torch: Wavepool) -> None:
    curl(without_torch, RIGHT)
    body = {"solution_code": RIGHT, "problem": "mine-alone", "problem_def": (DEFINITIONS / "matmul.py").read_text()}
    refused = without_torch.http.post("/api/amd/submit", json=body)
    assert refused.status_code == 422
    assert "make setup-torch" in refused.text
    machines = without_torch.http.get("/api/v1/machines").json()["machines"]
    assert [machine["state"] for machine in machines] == ["WARM"], "the machine is well"
    assert [machine["torch_version"] for machine in machines] == [None]


def test_a_benchmark_tells_how_far_it_has_come_while_it_goes_on(without_torch: Wavepool) -> None:
    story = curl(without_torch, slow(RIGHT), problem_def="", endpoint="full")
    assert story[-1]["status"] == "ACCEPTED", story[-1]
    progress = [frame for frame in story if frame["status"] == "BENCHMARKING" and "samples" in frame]
    [first, *_] = [frame for frame in story if frame["status"] == "BENCHMARK_RESULT"]
    assert progress
    assert progress[0]["timestamp"] < first["timestamp"]
    samples = [frame["samples"] for frame in progress]
    assert samples == sorted(samples)
    assert all(1 <= frame["session"] <= frame["sessions"] for frame in progress)
