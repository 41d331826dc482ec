"""Every attack gets the verdict that it must get."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.attacks.manifest import Attempt, attempts

if TYPE_CHECKING:
    from tests.attacks.conftest import Attack

# These need something beside the submission, and have tests of their own in test_staged.py.
_STAGED = {
    "11_seed_search/search",
    "26_hot_data/keeps_touching",
    "28_residue/leaves_marks",
    "28_residue/looks_for_marks",
    "30_network/connects",
}
_ALONE = [attempt for attempt in attempts() if attempt.name not in _STAGED]


@pytest.mark.parametrize("attempt", _ALONE, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict(attack: Attack, attempt: Attempt) -> None:
    finished = await attack(attempt)
    if attempt.other_verdict is not None and finished.verdict is attempt.other_verdict:
        assert attempt.other_says in finished.message
        return
    assert finished.verdict is attempt.verdict, finished
    assert attempt.has_timing(finished), finished
    assert re.fullmatch(attempt.reason, finished.reason), finished
    assert not attempt.says or any(piece in finished.message for piece in attempt.says), finished
    assert re.search(attempt.prints, finished.stdout), finished.stdout
