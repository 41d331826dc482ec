"""Each tier has what it promises, and a file that is too dear for `quick` fails it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import tiers
from tests.needs import REPOSITORY
from tests.tiers import PARTS, PLACES, Tier, Tiers, examples, one_of_each, place_of, rotating, tier_of

CONFTEST = """
import tests.tiers
from tests.tiers import Tiers
def pytest_configure(config):
    tests.tiers.BUDGET_SECONDS = 0.2
    config.pluginmanager.register(Tiers(), "tiers")
"""
DEAR = """
import time
import pytest
def test_dear():
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass
@pytest.mark.all
def test_later():
    pass
"""


def _pytest(folder: Path, *words: str, tier: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_dear.py").write_text(DEAR)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REQUIRE_", "PYTEST_", "SOAK"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", REPOSITORY / "pyproject.toml"]
    return subprocess.run(
        [*command, "--rootdir", folder, *words],
        cwd=REPOSITORY,
        env={**kept, "TIER": tier},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_above_its_budget_fails_quick_and_no_other_tier(tmp_path: Path) -> None:
    quick = _pytest(tmp_path, str(tmp_path), tier="quick")
    assert quick.returncode == 1, quick.stdout
    assert "test_dear.py took 0." in quick.stdout
    assert "1 passed, 1 deselected" in quick.stdout
    complete = _pytest(tmp_path, str(tmp_path), tier="all")
    assert complete.returncode == 0, complete.stdout
    assert "2 passed" in complete.stdout


def test_a_test_that_is_named_runs_whatever_its_tier(tmp_path: Path) -> None:
    named = _pytest(tmp_path, f"{tmp_path}/test_dear.py::test_later", tier="quick")
    assert "1 passed" in named.stdout, named.stdout


def test_an_unknown_tier_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    refused = _pytest(tmp_path, str(tmp_path), tier="fast")
    assert refused.returncode == 4
    assert "TIER: 'fast' is not a tier; choose quick, test, all or soak" in refused.stdout + refused.stderr


@pytest.mark.parametrize("place", PLACES)
def test_each_place_is_there(place: str) -> None:
    file, _, function = place.partition("::")
    assert (REPOSITORY / file).exists()
    assert not function or f"def {function.partition('[')[0]}" in (REPOSITORY / file).read_text("utf-8")


def test_the_longest_place_counts_then_what_a_test_needs_and_its_marker_can_only_delay_it() -> None:
    chosen = next(place for place in PLACES if place.startswith("tests/end_to_end/test_reservations.py::"))
    assert place_of("tests/end_to_end/test_money.py::test_a") is Tier.ALL
    assert place_of(f"{chosen}_whatever_follows") is Tier.TEST
    unplaced = "tests/vocabulary/test_money.py::test_a"
    assert tier_of(unplaced, [], None) is Tier.QUICK
    assert tier_of(unplaced, ["postgres"], None) is Tier.TEST
    assert tier_of(unplaced, ["postgres", "sshd"], None) is Tier.ALL
    assert tier_of(unplaced, [], Tier.SOAK) is Tier.SOAK
    assert tier_of("tests/end_to_end/test_money.py::test_a", [], Tier.QUICK) is Tier.ALL


@pytest.mark.parametrize(
    ("tier", "required", "ignored"), [("all", "", {"gpu"}), ("all", "1", set()), ("quick", "1", {"honest"})]
)
def test_folders_of_later_tiers_and_those_of_a_gpu_are_not_even_read(
    tier: str, required: str, ignored: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIER", tier)
    monkeypatch.delenv("SOAK", raising=False)
    monkeypatch.setenv("REQUIRE_GPU", required)
    whole: Any = SimpleNamespace(args=[str(REPOSITORY / "tests")])
    named: Any = SimpleNamespace(args=[str(REPOSITORY / "tests/gpu"), str(REPOSITORY / "tests/honest")])
    for folder in ("gpu", "honest", "end_to_end", "vocabulary"):
        path = REPOSITORY / "tests" / folder
        tests = Tiers()
        assert bool(tests.pytest_ignore_collect(path, whole)) == (
            folder in ignored or (tier, folder) == ("quick", "end_to_end")
        )
        assert folder not in {"gpu", "honest"} or not tests.pytest_ignore_collect(path, named)


def _early(parameters: list[object]) -> set[str]:
    return {value for value in parameters if isinstance(value, str)}


def test_ten_commits_in_turn_run_the_whole_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    slugs = [f"problem-{number}" for number in range(83)]
    drawn = []
    for part in range(PARTS):
        monkeypatch.setattr(tiers, "drawn", lambda part=part: part)
        drawn.append(_early([*rotating(slugs)]))
        assert len(rotating(slugs)) == len(slugs)
        groups = _early([*one_of_each(slugs, lambda slug: slug[-1])])
        assert {slug[-1] for slug in groups} == set("0123456789")
        assert len(groups) == 10
    soaked = [value for value in one_of_each(slugs, lambda slug: slug[-1], Tier.SOAK) if not isinstance(value, str)]
    assert {mark.name for parameter in soaked for mark in parameter.marks} == {"soak"}
    assert set().union(*drawn) == set(slugs)
    assert sum(map(len, drawn)) == len(slugs)


def test_dear_property_tests_have_more_examples_in_each_later_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOAK", raising=False)
    numbers = []
    for tier in Tier:
        monkeypatch.setenv("TIER", tier.name.lower())
        numbers.append(examples(100))
    assert numbers == [10, 20, 33, 100]
