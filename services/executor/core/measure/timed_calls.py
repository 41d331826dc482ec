"""The calls that time a case in one session: the sources of their inputs, and which answers are compared.

The host draws the inputs of a small case, and compares every answer. With a large case that would keep the host busy
for minutes to time milliseconds. So if the device can draw it (`case_judge.py`), only the first answer is compared; of
the others the runner reports only a digest or an excerpt (`commitment.py`), which `revealing.py` checks later.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from problems.kit.definition import Case
from services.executor.core.call.runner_session import CallTimes
from services.executor.core.check.case_judge import CaseJudge, Trial
from services.executor.core.check.checking import Checker
from services.executor.core.check.side_by_side import raise_first, side_by_side
from services.executor.core.model.failure import Failure

# A case is called as often as in a session that times it on `cpu`: nine calls or a quarter of a second, and at least
# three calls unless each takes seconds. A problem with few cases spreads 40 calls over them, if they fit into that
# time. If a source is wrong in one call of eight, 40 calls miss it with a chance of 0.5 %, three with one of 67 %.
FEWEST_REPEATED = 3
_REPEATED_CALLS, _REPEATED_OF_ALL_CASES, _ENOUGH_SECONDS, _TOO_MANY_SECONDS = 9, 40, 0.25, 2.0
_NO_END = 1 << 30


class TimedCalls:
    """Makes up to `most` calls of one case in one session; `checked` counts those whose answers are compared.

    Inputs that the host draws are drawn for up to `at_once` calls together, on several processors. Their answers are
    compared in the same way before the next inputs are drawn, as the judge does nothing else while a call is timed.
    """

    def __init__(
        self,
        checker: Checker,
        judge: CaseJudge,
        flush_bytes: int = 0,
        *,
        most: int = _NO_END,
        at_once: int = _NO_END,
    ) -> None:
        self.made = 0
        self.checked = 0
        self._checker = checker
        self._judge = judge
        self._flush_bytes = flush_bytes
        self.most = most
        self._loaded: Trial | None = None
        self._ahead: list[Trial] = []
        self._answers: list[tuple[Trial, dict[str, NDArray[Any]]]] = []
        self._at_once = min(at_once, judge.at_once)
        self._seconds_of_a_draw = 0.0

    @property
    def seconds_ahead(self) -> float:
        """The time spent on drawing inputs for calls that are not made yet."""
        return len(self._ahead) * self._seconds_of_a_draw

    async def make(self) -> CallTimes:
        """Makes the next call; raises Failure if it, or an earlier one, is found wrong."""
        self.made += 1
        if self._loaded is not None:
            return await self._redrawn(self._loaded)
        self.checked += 1
        if self.made == 1:
            self._loaded = await self._checker.load_undrawn(self._judge)
        if self._loaded is not None or self._at_once == 1:
            return await self._checker.call_loaded(self._judge, self._loaded, self._flush_bytes)
        return await self._drawn()

    async def check_rest(self) -> None:
        """Compare the answers that were not compared yet; raises Failure if one is wrong."""
        await raise_first([partial(self._judge.fault_in_part, *answer) for answer in self._answers])
        self._answers.clear()

    async def _drawn(self) -> CallTimes:
        checker, judge = self._checker, self._judge
        if not self._ahead:
            await self.check_rest()
            begin = time.perf_counter()
            numbers = [checker.next_call() for _ in range(min(self._at_once, self.most - self.made + 1))]
            self._ahead = await side_by_side([partial(judge.draw, number) for number in numbers])
            self._seconds_of_a_draw = (time.perf_counter() - begin) / len(numbers)
        trial = self._ahead.pop(0)
        try:
            times = await checker.make(judge, trial, self._flush_bytes)
            outputs = judge.collect(checker.session.channel, trial, {})
        except Failure:
            # An earlier wrong answer counts first, as if calls were compared one by one.
            await self.check_rest()
            raise
        self._answers.append((trial, outputs))
        return times

    async def _redrawn(self, loaded: Trial) -> CallTimes:
        checker, call = self._checker, self._checker.next_call()
        question = checker.question(self._judge, loaded, call)
        return await checker.make_redrawn(self._judge, question, call, self._flush_bytes)


async def check_repeatedly(checker: Checker, cases: Sequence[Case]) -> None:
    """Call each case as often as in a session that times it; raises Failure at the first wrong call.

    This is for solutions whose launches we make when they are timed: an error that is rare, or that needs an address to
    come again, shows only in many calls.
    """
    if checker.launches:
        raise ValueError("answers of large cases that our own runner launches are not all compared")
    most_calls = most_repeated(len(cases))
    for index, case in enumerate(cases):
        judge, begin = checker.judge(case, index), time.monotonic()
        calls = TimedCalls(checker, judge, most=most_calls, at_once=FEWEST_REPEATED)
        while calls.made < most_calls and not is_enough(calls.made, time.monotonic() - begin - calls.seconds_ahead):
            await calls.make()
        await calls.check_rest()


def most_repeated(cases: int) -> int:
    """The most repeated calls of each of so many cases."""
    return max(_REPEATED_CALLS, _REPEATED_OF_ALL_CASES // cases)


def is_enough(calls: int, seconds: float) -> bool:
    """True if `calls` repeated calls of a case, which took `seconds` together, are enough; one is always made."""
    is_slow = seconds > _TOO_MANY_SECONDS * calls
    return calls > 0 and (is_slow or (calls >= FEWEST_REPEATED and seconds > _ENOUGH_SECONDS))
