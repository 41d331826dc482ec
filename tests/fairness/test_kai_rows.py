"""Every row that we have of KAI's test suite, replayed."""

from __future__ import annotations

import pytest

from tests.fairness.case_rows import Row, rows
from tests.fairness.kai_replay import REPLAYS, not_applicable

ROWS = rows("kai")


def test_there_are_rows_of_every_kind() -> None:
    assert {row["kind"] for row in ROWS} == set(REPLAYS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])
def test_the_engine_decides_as_the_row_says(row: Row) -> None:
    if reason := not_applicable(row):
        pytest.skip(reason)
    assert list(REPLAYS[row["kind"]](row)) == []
