"""Every row that we have of KAI's test suite, replayed."""

from __future__ import annotations

import pytest

from tests.fairness.case_rows import Row
from tests.fairness.kai_replay import KINDS, all_rows, differences, not_applicable

ROWS = all_rows()


def test_there_are_rows_of_every_kind() -> None:
    assert {row["kind"] for row in ROWS} == set(KINDS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])
def test_the_engine_decides_as_the_row_says(row: Row) -> None:
    if reason := not_applicable(row):
        pytest.skip(reason)
    assert differences(row) == []
