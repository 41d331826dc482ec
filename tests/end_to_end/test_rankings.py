"""A real time goes from a submission into the ranking, and two submissions are compared."""

from __future__ import annotations

from typing import Any

from tests.end_to_end.test_submissions import submit_as_seed
from tests.end_to_end.wavepool_processes import Wavepool, reference

PROBLEM = "leaky-relu"


def test_a_time_ranks_if_it_is_proven_and_two_times_are_compared(wavepool: Wavepool) -> None:
    ended = [submit_as_seed(wavepool, "full", reference(PROBLEM), PROBLEM)[-1].data for _ in range(2)]
    page = wavepool.http.get("/api/v1/submissions", params={"problem": PROBLEM, "page_size": 2}).json()
    newer, older = (one["id"] for one in page["submissions"])
    ranking = _ranking(wavepool, "cpu")
    # On `cpu`, a time that varies counts among those of `cpu` if its interval is shown.
    counts = [
        one for one in ended if one["timing"] == "VALID" or (one["timing"] == "UNSTABLE" and one["shown_interval"])
    ]
    proven = [one["avg_runtime_ms"] for one in counts]
    assert (ranking["ranked"], ranking["timing_mode"]) == (False, "hot")
    if proven:
        # Other tests of this Wavepool may have been faster.
        assert ranking["you"]["runtime_ms"] <= min(proven) * 1.000001
        assert ranking["you"]["rank"] is None
    answer = wavepool.http.get("/api/v1/comparisons", params={"base": older, "other": newer})
    assert answer.status_code == 200, answer.text
    compared = answer.json()
    assert compared["verdict"] == "UNCLEAR" or len(proven) == 2, "times that are not proven tell nothing"
    assert compared["speedup_low"] <= compared["speedup"] <= compared["speedup_high"]
    assert len(compared["cases"]) == len(ended[0]["benchmark_results"])


def test_nothing_of_the_cpu_device_is_in_the_ranking_of_a_gpu(wavepool: Wavepool) -> None:
    submit_as_seed(wavepool, "full", reference(PROBLEM), PROBLEM)
    assert _ranking(wavepool, "MI300X")["users"] == 0


def _ranking(wavepool: Wavepool, gpu_type: str) -> dict[str, Any]:
    answer = wavepool.http.get("/api/v1/rankings", params={"problem": PROBLEM, "gpu_type": gpu_type})
    assert answer.status_code == 200, answer.text
    return answer.json()
