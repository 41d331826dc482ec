"""Every attack gets the verdict and timing that it must get, under the rules that the product ships with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from submissions.modes import Mode
from tests.attacks.manifest import PARTS_OF_STAGED, Attempt, attempts
from tests.tiers import one_of_each, sampled

if TYPE_CHECKING:
    from tests.attacks.conftest import Attack


def _class(attempt: Attempt) -> int:
    return attempt.attack


_ALONE = [attempt for attempt in attempts() if attempt.name not in PARTS_OF_STAGED]
_TIMED = [attempt for attempt in _ALONE if attempt.mode is Mode.BENCHMARK]
_FIRST_OF_FOLDER = {attempt.name.split("/")[0]: attempt for attempt in reversed(_TIMED)}


@pytest.mark.parametrize("attempt", one_of_each(_ALONE, _class), ids=lambda attempt: attempt.name)
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
