"""Every row that we have of Kueue's test suite, replayed."""

from __future__ import annotations

import pytest

from tests.fairness.case_rows import Row, rows
from tests.fairness.kueue_rows import REPLAYS

ROWS = rows("kueue")
OURS: list[Row] = [
    {
        "id": "ours/decayed-usage",
        "source": "ours",
        "kind": "time_fairshare",
        "half_life_s": 600,
        "age_s": 600,
        "usage": {"cpu": 8, "gpu": 2},
        "expect": {"decayed": {"cpu": 4, "gpu": 1}},
    },
    {
        "id": "ours/decayed-usage-of-one-that-runs",
        "source": "ours",
        "kind": "time_fairshare",
        "half_life_s": 600,
        "age_s": 600,
        "usage": {"cpu": 8},
        "in_use": {"cpu": 2},
        "expect": {"decayed": {"cpu": 5}},
    },
]
"""Rows of our own, not of Kueue's: fields that no stored row has."""


def replay(row: Row) -> list[str]:
    return list(REPLAYS[row["kind"]](row))


def test_there_are_rows_of_every_kind() -> None:
    assert {row["kind"] for row in ROWS} == set(REPLAYS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in [*ROWS, *OURS]])
def test_the_engine_decides_as_kueue_does(row: Row) -> None:
    assert replay(row) == []


def test_a_row_with_another_outcome_is_told_apart() -> None:
    shares = next(row for row in ROWS if row["kind"] == "drs")
    wrong = [{**one, "share": one["share"] + 1} for one in shares["expect"]["shares"]]
    assert len(replay({**shares, "expect": {"shares": wrong}})) == len(wrong)
    preemption = next(row for row in ROWS if row["kind"] == "preemption" and row["expect"]["preempted"])
    assert replay({**preemption, "expect": {"preempted": []}})
    cycle = next(row for row in ROWS if row["kind"] == "admission_cycle" and row["expect"]["admitted"])
    assert replay({**cycle, "expect": {**cycle["expect"], "admitted": []}})
    penalty = next(row for row in ROWS if row["kind"] == "time_fairshare")
    assert replay({**penalty, "half_life_s": 2 * penalty["half_life_s"]})
