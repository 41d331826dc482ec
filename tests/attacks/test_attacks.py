"""Every attack gets the verdict and timing that it must get, by the rules that the product is shipped with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from services.executor.core.job import Mode
from services.executor.core.verdict import Verdict
from tests.attacks.manifest import Attempt, Outcome, attempts

if TYPE_CHECKING:
    from tests.attacks.conftest import Attack

# These need something beside the submission, and have tests of their own in test_staged.py.
_STAGED = {
    "11_seed_search/search",
    "28_residue/leaves_marks",
    "28_residue/looks_for_marks",
    "30_network/connects",
}
_ALONE = [attempt for attempt in attempts() if attempt.name not in _STAGED]
_TIMED = [attempt for attempt in _ALONE if attempt.mode is Mode.BENCHMARK]


@pytest.mark.parametrize("attempt", _ALONE, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict(attack: Attack, attempt: Attempt) -> None:
    finished = await attack(attempt)
    outcome, right = Outcome.reached(finished), attempt.outcomes["cpu"]
    assert outcome in right, finished
    if outcome == next((one for one in right if one.verdict is not Verdict.ACCEPTED), None):
        assert re.fullmatch(attempt.reason, finished.reason), finished
        assert not attempt.says or any(piece in finished.message for piece in attempt.says), finished
    if outcome == right[0]:
        assert re.search(attempt.prints, finished.stdout), finished.stdout


@pytest.mark.parametrize("attempt", _TIMED, ids=lambda attempt: attempt.name)
async def test_an_attack_on_a_benchmark_gets_its_verdict_on_the_simulated_gpu(
    attack_simulated: Attack, attempt: Attempt
) -> None:
    finished = await attack_simulated(attempt)
    assert Outcome.reached(finished) in attempt.outcomes["sim"], finished
