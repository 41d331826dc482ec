"""Every attack gets the verdict and timing that it must get, under the rules that the product ships with."""

from __future__ import annotations

import pytest

from submissions.modes import Mode
from tests.attacks.conftest import Attack
from tests.attacks.manifest import PARTS_OF_STAGED, Attempt, attempts
from tests.tiers import one_of_each, sampled


def _class(attempt: Attempt) -> int:
    return attempt.attack


# It keeps all cores busy for a minute; test_idle_work.py runs it with few samples, and sees the same.
_BUSY = "06_own_clock/spinning_threads"
_ALONE = [attempt for attempt in attempts() if attempt.name not in PARTS_OF_STAGED]
_CLASSES = [
    *one_of_each([attempt for attempt in _ALONE if attempt.name != _BUSY], _class),
    *[pytest.param(attempt, marks=pytest.mark.soak) for attempt in _ALONE if attempt.name == _BUSY],
]
_TIMED = [attempt for attempt in _ALONE if attempt.mode is Mode.BENCHMARK]
_FIRST_OF_FOLDER = {attempt.name.split("/")[0]: attempt for attempt in reversed(_TIMED)}


@pytest.mark.parametrize("attempt", _CLASSES, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict(attack: Attack, attempt: Attempt) -> None:
    finished = await attack(attempt)
    assert attempt.shortcoming(finished, "cpu") == "", finished


@pytest.mark.all
@pytest.mark.parametrize("attempt", sampled(_TIMED, list(_FIRST_OF_FOLDER.values())), ids=lambda attempt: attempt.name)
async def test_an_attack_on_a_benchmark_gets_its_verdict_on_the_simulated_gpu(
    attack_simulated: Attack, attempt: Attempt
) -> None:
    finished = await attack_simulated(attempt)
    assert attempt.shortcoming(finished, "sim") == "", finished
