"""What a stream of another account's submission asks before each frame."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.http.errors import Problem, ProblemError
from gateway.submissions.sharing_check import SharingCheck
from vocabulary.backoff import Backoff

AT_ONCE = Backoff(timedelta(0), timedelta(0))


class Lookups:
    """Answers with these statuses, and counts what was asked."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.seconds = 0.0
        self.asked = 0

    async def __call__(self) -> None:
        self.asked += 1
        status = self._statuses.pop(0)
        if status != 200:
            raise ProblemError(Problem(status, "no"))

    def shared(self) -> SharingCheck:
        return SharingCheck(self, timedelta(seconds=5), AT_ONCE, lambda: self.seconds)


async def test_an_answer_is_good_for_some_seconds() -> None:
    lookups = Lookups(200, 200)
    still_shared = lookups.shared()
    for seconds, asked in ((0.0, 0), (4.9, 0), (5.0, 1), (9.9, 1), (10.0, 2)):
        lookups.seconds = seconds
        await still_shared()
        assert lookups.asked == asked


async def test_what_cannot_be_found_out_is_asked_again_before_anything_is_sent() -> None:
    lookups = Lookups(503, 504, 200)
    still_shared = lookups.shared()
    lookups.seconds = 5.0
    await still_shared()
    assert lookups.asked == 3


async def test_what_is_not_shared_any_more_is_refused() -> None:
    lookups = Lookups(503, 404)
    still_shared = lookups.shared()
    lookups.seconds = 5.0
    with pytest.raises(ProblemError) as refused:
        await still_shared()
    assert refused.value.problem.status == 404
