from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.kept_builds import REPOSITORY
from tests.work_units import LONG, NEVER_SIDE_BY_SIDE, SHARING, SPREAD, WorkUnits, long_first, unit_of


@dataclass(frozen=True)
class Named:
    nodeid: str


@dataclass(eq=False)
class Worker:
    """A worker that records the tests that the scheduler gives it."""

    given: list[int] = field(default_factory=list)
    shutting_down: bool = False
    gateway: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(id="gw0"))

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def in_order(*nodeids: str) -> Sequence[str]:
    items = [Named(nodeid) for nodeid in nodeids]
    long_first(cast("list[pytest.Item]", items))
    return [item.nodeid for item in items]


@pytest.mark.parametrize("path", [*SPREAD, *LONG, *NEVER_SIDE_BY_SIDE, SHARING])
def test_what_is_treated_specially_is_there(path: str) -> None:
    file, _, function = path.partition("::")
    assert (REPOSITORY / file).exists()
    assert not function or f"def {function}(" in (REPOSITORY / file).read_text()


def test_files_stay_whole_and_spread_ones_fall_into_their_tests() -> None:
    assert unit_of("tests/cli/test_main.py::test_a[x::y]") == unit_of("tests/cli/test_main.py::test_b")
    assert unit_of("tests/honest/test_honest.py::test_a") != unit_of("tests/honest/test_honest.py::test_b")


def test_what_must_not_run_side_by_side_is_one_unit() -> None:
    assert len({unit_of(f"{path}::test_a") for path in NEVER_SIDE_BY_SIDE}) == 1


def test_what_shares_a_running_wavepool_is_one_unit() -> None:
    assert unit_of(f"{SHARING}test_a.py::test_a") == unit_of(f"{SHARING}test_b.py::test_b") != unit_of("tests/a.py::b")


def test_long_files_come_first_the_longest_before_and_the_shuffled_order_stays_otherwise() -> None:
    long, other, shorter = f"{LONG[0]}::test_b", "tests/cli/test_main.py::test_a", f"{LONG[-1]}::test_c"
    another = "tests/billing/test_a.py::test_a"
    assert in_order(other, shorter, another, long) == [long, shorter, other, another]


def test_workers_get_units_in_the_order_of_collection_however_many_tests_they_have() -> None:
    collected = ["a.py::test_1", "b.py::test_1", f"{SPREAD[0]}c.py::test_1", f"{SPREAD[0]}c.py::test_2"]
    collected += [f"d.py::test_{number}" for number in range(9)]
    config: Any = SimpleNamespace(option=SimpleNamespace(loadscopereorder=True), getvalue=lambda name: ["popen"])
    units, worker = WorkUnits(config), cast("Any", Worker())
    units.add_node(worker)
    units.add_node_collection(worker, collected)
    units.schedule()
    for index in range(len(collected)):
        assert worker.given == list(range(len(worker.given)))
        assert index in worker.given
        units.mark_test_complete(worker, index)
    assert worker.given == list(range(len(collected)))
    assert worker.shutting_down


def test_a_test_that_crashes_its_worker_is_run_once_and_the_rest_of_its_file_by_others() -> None:
    collected = [f"{file}.py::test_{number}" for file in "ab" for number in range(3)]
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True), getvalue=lambda name: ["popen", "popen"]
    )
    units, crashing, other, next_one = WorkUnits(config), *(cast("Any", Worker()) for _ in range(3))
    for worker in (crashing, other):
        units.add_node(worker)
        units.add_node_collection(worker, collected)
    units.schedule()
    (first, *_), taken = crashing.given, set(other.given)
    assert units.remove_node(crashing) == collected[first]
    for index in sorted(taken):
        units.mark_test_complete(other, index)
    units.add_node(next_one)
    units.add_node_collection(next_one, collected)
    units.schedule()
    left = {index for index in range(len(collected)) if collected[index][0] == collected[first][0]} - {first}
    assert set(other.given) | set(next_one.given) == taken | left
