"""What the gateway cannot know to be wrong is refused with the field and the remedy; nothing is stored or charged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import Wavepool

GOOD = {"problem": "leaky-relu", "code": 'extern "C" void solution() {}', "mode": "check"}
GOOD_SEED = {
    "solution_code": "x",
    "problem": "leaky-relu",
    "problem_def": "",
    "gpu_type": "MI300X",
    "dtype": "float32",
    "language": "hip",
}
OURS: dict[str, tuple[dict[str, Any], int, str]] = {
    "unknown problem": (GOOD | {"problem": "leaky-rely"}, 404, "leaky-relu"),
    "blank code": (GOOD | {"code": " \n"}, 422, "code"),
    "wrong dtype": (GOOD | {"dtype": "float33"}, 422, "dtype"),
    "another vendor's GPU": (GOOD | {"gpu_type": "H100"}, 422, "MI300X"),
    "a fallback that is none": (
        GOOD | {"fallback_gpu_types": ["MI21"]},
        422,
        "it is 'MI21', and the nearest is MI210",
    ),
    "a fallback that is wanted": (GOOD | {"fallback_gpu_types": ["MI300X"]}, 422, "leave it out"),
    "another language": (GOOD | {"language": "mojo"}, 422, "language"),
}
SEED: dict[str, tuple[dict[str, Any], int, str]] = {
    "unknown problem": (GOOD_SEED | {"problem": "no-such"}, 404, "Problem not found"),
    "another vendor's GPU": (GOOD_SEED | {"gpu_type": "H100"}, 422, "MI300X"),
    "a fallback that is none": (
        GOOD_SEED | {"fallback_gpu_types": ["MI21"]},
        422,
        "it is 'MI21', and the nearest is MI210",
    ),
    "wrong dtype": (GOOD_SEED | {"dtype": "float33"}, 422, "dtype"),
}


@pytest.fixture(autouse=True)
def nothing_stored_nothing_charged(wavepool: Wavepool) -> Iterator[None]:
    def state() -> tuple[Any, Any]:
        jobs = wavepool.http.get("/api/v1/submissions", params={"page_size": 100}).json()["submissions"]
        return [job["id"] for job in jobs], wavepool.balance()

    before = state()
    yield
    assert state() == before


@pytest.mark.parametrize("case", OURS)
def test_our_route_names_the_field_and_the_fix(wavepool: Wavepool, case: str) -> None:
    body, status, words = OURS[case]
    answer = wavepool.http.post("/api/v1/submissions", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert words in answer.text


@pytest.mark.parametrize("case", SEED)
def test_the_seed_route_answers_plain_json_before_the_stream(wavepool: Wavepool, case: str) -> None:
    body, status, words = SEED[case]
    answer = wavepool.http.post("/api/amd/submit", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    assert "error" in answer.json()
    assert words in answer.text
