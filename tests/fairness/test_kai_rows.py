"""Every row that we have of KAI's test suite, replayed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fairness.case_rows import Row, rows
from tests.fairness.kai_replay import REPLAYS, not_applicable

ROWS = rows("kai")


def _ours(name: str, expect: dict[str, str], jobs: dict[str, list[Row]], **fields: Any) -> Row:
    """A row of our own, not of KAI's, for fields that no stored row has: a node of two GPUs, each job in its queue."""
    return {
        "id": f"ours/{name}",
        "source": "ours",
        "kind": "allocation",
        "actions": ["allocate", "stalegangeviction"],
        "nodes": {"node0": {"gpus": 2}},
        "queues": [{"name": job, "quota_gpu": 0, "over_quota_weight": 1, **fields.pop(job, {})} for job in jobs],
        "jobs": [
            {"name": job, "queue": job, "gpus_per_task": 1, "priority": 50, "preemptible": True, "tasks": tasks}
            | fields.pop("job", {})
            for job, tasks in jobs.items()
        ],
        "expect": {"jobs": {}, "tasks": {task: {"state": state} for task, state in expect.items()}},
        **fields,
    }


_PENDING, _RUNNING = {"state": "Pending"}, {"state": "Running", "node": "node0"}
_LACKS_ONE = {"a": [_RUNNING, {"state": "Failed", "node": "node0"}]}
_STALE: dict[str, Any] = {"job": {"stale_s": 30}}
_KEPT, _EVICTED = {"a-0": "Running"}, {"a-0": "Releasing"}
_ONE_OF_TWO = {"a": [{**_PENDING, "gpus": 2}], "b": [{**_PENDING, "gpus": 2}]}
_USED = {"a": {"usage": {"gpu": 1}}, "age_s": 3600}

OURS = [
    _ours("no-grace", _EVICTED, _LACKS_ONE, **_STALE),
    _ours("grace-60", _KEPT, _LACKS_ONE, stale_grace_seconds=60, **_STALE),
    _ours("grace-of-the-action-alone", _KEPT, _LACKS_ONE, actions=["stalegangeviction"], **_STALE),
    _ours("grace-20", _EVICTED, _LACKS_ONE, actions=["stalegangeviction"], stale_grace_seconds=20, **_STALE),
    _ours("gpus-of-a-task", {"a-0": "Binding", "b-0": "Pending"}, _ONE_OF_TWO),
    _ours(
        "releasing-at-the-start",
        {"a-0": "Pending", "b-0": "Running"},
        {"a": [{**_RUNNING, "state": "Releasing", "gpus": 2}], "b": [{**_PENDING, "gpus": 2}]},
        b={"quota_gpu": 2},
        rounds={"until": 2, "stable_after": 1},
    ),
    _ours("past-usage", {"a-0": "Pending", "b-0": "Binding"}, _ONE_OF_TWO, half_life_s=36_000, **_USED),
    _ours("forgotten-usage", {"a-0": "Binding", "b-0": "Pending"}, _ONE_OF_TWO, half_life_s=60, **_USED),
    _ours("usage-of-no-weight", {"a-0": "Binding", "b-0": "Pending"}, _ONE_OF_TWO, k_value=0, **_USED),
    {
        "id": "ours/decayed-shares",
        "source": "ours",
        "kind": "time_fairshare",
        "half_life_s": 3600,
        "total": {"gpu": 9},
        "k_value": 1,
        "queues": [
            {"name": "a", "usage": 1, "age_s": 3600, "gpu": {"weight": 1, "request": 9}},
            {"name": "b", "gpu": {"weight": 1, "request": 9}},
        ],
        "expect": {"fair_share": {"a": {"gpu": 3}, "b": {"gpu": 6}}},
    },
]


def test_there_are_rows_of_every_kind() -> None:
    assert {row["kind"] for row in ROWS} == set(REPLAYS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in [*ROWS, *OURS]])
def test_the_engine_decides_as_the_row_says(row: Row) -> None:
    if reason := not_applicable(row):
        pytest.skip(reason)
    assert list(REPLAYS[row["kind"]](row)) == []
