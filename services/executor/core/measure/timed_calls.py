"""The calls by which a case is timed in one session: where their inputs come from, and which answers are compared.

The host draws the inputs of a small case, and compares every answer. A large one would keep the host busy for minutes
to time milliseconds. So if the device can draw it (`case_judge.py`), the first answer is compared, and of the samples
nothing but a digest is told; `revealing.py` has what becomes of it. Where a problem lets answers to the same inputs
differ, digests say nothing. There a few answers are kept, by lot, and compared when the session has no more calls:
nobody can know which, nor that no more will be chosen. A time is a median over sessions of medians: to change it, half
of the samples of two sessions must be wrong, which goes unnoticed in one run of 400 at the most if all of an answer is,
or single elements: `kit/parts.py` has what is compared of large answers. If 5 % of the rows of each are left out
it is one in 4,000, if 2 % are one in 180, from the 10th to the 100th sample.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from services.executor.core.check.side_by_side import raise_first, side_by_side
from services.executor.core.model.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from problems.kit.definition import Case
    from services.executor.core.call.session import CallTimes
    from services.executor.core.check.case_judge import CaseJudge, Trial
    from services.executor.core.check.checking import Checker

COMPARED_ANSWERS = 8
"""Answers of a session's samples. Where they are kept by lot, and half of the samples are wrong, none of those is kept
once in 256; once in 20 if the kernel sees which answers are fetched, and has the session end with any sample from the
10th to the 2,000th."""
# Repeatedly is as often as in a session that times the case on `cpu`: nine calls or a quarter of a second, and three
# calls in any case that does not take seconds for each. A problem of few cases has its calls on those, if they fit into
# that time: of a source that is wrong in one call of eight, 40 calls let 0.5 % pass, three 67 %.
FEWEST_REPEATED = 3
_REPEATED_CALLS, _REPEATED_OF_ALL_CASES, _ENOUGH_SECONDS, _TOO_MANY_SECONDS = 9, 40, 0.25, 2.0
_NO_END = 1 << 30


def place_of(number: int, lot: float, kept: int = COMPARED_ANSWERS) -> int | None:
    """Where the answer of a session's sample with this number, from 1, is kept; None if it is not.

    `lot` is even in [0, 1), and there are `kept` places. The later one takes the place of the earlier, so that after
    any sample those kept are an even choice of all (reservoir sampling, algorithm R in J. S. Vitter, ACM TOMS 11(1),
    1985).
    """
    place = number - 1 if number <= kept else int(lot * number)
    return place if place < kept else None


@dataclass(frozen=True)
class _Kept:
    """The answer of one call, and what its inputs are made from."""

    call: int
    key: int
    outputs: dict[str, NDArray[Any]]


class TimedCalls:
    """Makes the calls of one case in one session, `most` at the most; `checked` counts those with an answer compared.

    Inputs that the host draws are drawn for several calls at once, at most `at_once`, on several processors, and their
    answers compared so as well, before the next are drawn: while a call is timed the judge does nothing else.
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
        self._warm_up_calls: int | None = None
        self._checker = checker
        self._judge = judge
        self._flush_bytes = flush_bytes
        self.most = most
        self._loaded: Trial | None = None
        self._kept: dict[int, _Kept] = {}
        self._ahead: list[Trial] = []
        self._answers: list[tuple[Trial, dict[str, NDArray[Any]]]] = []
        self._at_once = min(at_once, judge.at_once)
        self._seconds_of_a_draw = 0.0

    @property
    def seconds_ahead(self) -> float:
        """What was spent on calls that are not made yet."""
        return len(self._ahead) * self._seconds_of_a_draw

    def begin_samples(self) -> None:
        """The calls so far were to warm up."""
        self._warm_up_calls = self.made

    async def make(self) -> CallTimes:
        """The next call; raises Failure if it, or one before it, is wrong, as far as it is looked at."""
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
        await self._compare()
        while self._kept and self._loaded is not None:
            group = [self._kept.popitem()[1] for _ in range(min(self._judge.at_once, len(self._kept)))]
            await raise_first([partial(self._fault_of_kept, self._loaded, kept) for kept in group])
            self.checked += len(group)

    async def _drawn(self) -> CallTimes:
        checker, judge = self._checker, self._judge
        if not self._ahead:
            await self._compare()
            begin = time.perf_counter()
            numbers = [checker.next_call() for _ in range(min(self._at_once, self.most - self.made + 1))]
            self._ahead = await side_by_side([partial(judge.draw, number) for number in numbers])
            self._seconds_of_a_draw = (time.perf_counter() - begin) / len(numbers)
        trial = self._ahead.pop(0)
        try:
            times = await checker.make(judge, trial, self._flush_bytes)
            outputs = judge.collect(checker.session.channel, trial, {})
        except Failure:
            # What came before it counts first, as it would if calls were compared one by one.
            await self._compare()
            raise
        self._answers.append((trial, outputs))
        return times

    async def _compare(self) -> None:
        await raise_first([partial(self._judge.fault_in_part, *answer) for answer in self._answers])
        self._answers.clear()

    async def _redrawn(self, loaded: Trial) -> CallTimes:
        checker, call = self._checker, self._checker.next_call()
        key, lot = checker.lots(self._judge, call)
        times = await checker.make_redrawn(self._judge, key, call, self._flush_bytes)
        if times.commitment is not None or self._warm_up_calls is None:
            return times
        place = place_of(self.made - self._warm_up_calls, lot)
        if place is not None:
            await checker.session.store()
            part = self._judge.part(loaded, call)
            # Memory that was filled before costs half as much as new.
            into = None if part else self._kept[place].outputs if place in self._kept else {}
            outputs = self._judge.collect_outputs(checker.session.channel, loaded, into)
            self._kept[place] = _Kept(call, key, part.of(outputs) if part else outputs)
        return times

    def _fault_of_kept(self, loaded: Trial, kept: _Kept) -> Failure | None:
        # The same part again: to remember places takes twice the room of the values.
        return self._judge.fault(self._judge.remade(loaded, kept.key, kept.call), kept.outputs)


async def check_repeatedly(checker: Checker, cases: Sequence[Case]) -> None:
    """Call each case as often as in a session that times it; raises Failure at the first call that is wrong.

    For solutions whose launches we make when they are timed: what is wrong once in a while, or when an address comes
    again, is seen in many calls only.
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
    """How often each of so many cases is called repeatedly, at the most."""
    return max(_REPEATED_CALLS, _REPEATED_OF_ALL_CASES // cases)


def is_enough(calls: int, seconds: float) -> bool:
    """Whether so many repeated calls of a case, which took so long, are enough; one is always made."""
    is_slow = seconds > _TOO_MANY_SECONDS * calls
    return calls > 0 and (is_slow or (calls >= FEWEST_REPEATED and seconds > _ENOUGH_SECONDS))
