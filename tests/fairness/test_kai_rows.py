from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fairness.kai_replay import NOT_REPRODUCED_YET, all_rows, differences, not_applicable
from tests.fairness.kai_report import report

if TYPE_CHECKING:
    from tests.fairness.case_rows import Row

ROWS = all_rows()


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])
def test_the_engine_decides_as_the_row_says(row: Row) -> None:
    reason = not_applicable(row)
    if reason:
        pytest.skip(reason)
    assert bool(differences(row)) is (row["id"] in NOT_REPRODUCED_YET), "\n".join(differences(row))


def test_the_report_counts_every_row() -> None:
    counts = [line.split(": ")[1] for line in report().splitlines()[:5]]
    assert sum(int(count.split()[0]) for line in counts for count in line.split(", ")) == len(ROWS)


def test_rows_not_reproduced_yet_exist() -> None:
    assert set(NOT_REPRODUCED_YET) <= {row["id"] for row in ROWS}
