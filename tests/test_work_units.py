from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from tests.kept_builds import REPOSITORY
from tests.work_units import LONG, SPREAD, long_first, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Named:
    nodeid: str


def in_order(*nodeids: str) -> Sequence[str]:
    items = [Named(nodeid) for nodeid in nodeids]
    long_first(cast("list[pytest.Item]", items))
    return [item.nodeid for item in items]


@pytest.mark.parametrize("path", [*SPREAD, *LONG])
def test_what_is_treated_specially_is_there(path: str) -> None:
    assert (REPOSITORY / path).exists()


def test_files_stay_whole_and_spread_ones_fall_into_their_tests() -> None:
    assert unit_of("tests/cli/test_main.py::test_a[x::y]") == unit_of("tests/cli/test_main.py::test_b")
    assert unit_of("tests/honest/test_honest.py::test_a") != unit_of("tests/honest/test_honest.py::test_b")


def test_long_files_come_first_and_the_shuffled_order_stays_otherwise() -> None:
    long, other, longer = f"{LONG[0]}test_x.py::test_b", "tests/cli/test_main.py::test_a", f"{LONG[-1]}::test_c"
    another = "tests/billing/test_a.py::test_a"
    assert in_order(other, long, another, longer) == [long, longer, other, another]
