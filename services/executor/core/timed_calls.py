"""The calls by which a case is timed in one session: where their inputs come from, and which answers are compared.

The host draws the inputs of a small case, and compares every answer. A large one would keep the host busy for minutes
to time milliseconds. So if the device can draw it (`case_judge.py`), the first answer is compared, to warm up none, and
of the samples a few answers are kept, by lot, and compared when the session has no
more calls: nobody can know which, nor that no more will be chosen. A time is a median over sessions of medians: to
change it, half of the samples of two sessions must be wrong, which goes unnoticed in one run of 400 at the most if all
of an answer is, or single elements: `problems/parts.py` has what is compared of large answers. If 5 % of the rows of
each are left out it is one in 4,000, if 2 % are one in 180, from the 10th to the 100th sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from services.executor.core.case_judge import CaseJudge, Trial
    from services.executor.core.checking import Checker
    from services.executor.core.session import CallTimes

KEPT_ANSWERS = 8
"""Answers of a session. If half of its samples are wrong, none of those is kept once in 256; once in 20 if the kernel
sees which answers are fetched, and has the session end with any sample from the 10th to the 2,000th."""


def place_of(number: int, lot: float, kept: int = KEPT_ANSWERS) -> int | None:
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
    """Makes the calls of one case in one session; `checked` counts those whose answers were compared."""

    def __init__(self, checker: Checker, judge: CaseJudge, flush_bytes: int) -> None:
        self.made = 0
        self.checked = 0
        self._warm_up_calls: int | None = None
        self._checker = checker
        self._judge = judge
        self._flush_bytes = flush_bytes
        self._loaded: Trial | None = None
        self._kept: dict[int, _Kept] = {}

    def begin_samples(self) -> None:
        """The calls so far were to warm up."""
        self._warm_up_calls = self.made

    async def make(self) -> CallTimes:
        """The next call; raises Failure if it is wrong, as far as it is looked at."""
        self.made += 1
        if self._loaded is not None:
            return await self._redrawn(self._loaded)
        self.checked += 1
        self._loaded = await self._checker.load_undrawn(self._judge)
        return await self._checker.call_loaded(self._judge, self._loaded, self._flush_bytes)

    async def _redrawn(self, loaded: Trial) -> CallTimes:
        checker, call = self._checker, self._checker.next_call()
        key, lot = checker.lots(self._judge, call)
        times = await checker.make_redrawn(self._judge, key, self._flush_bytes)
        place = None if self._warm_up_calls is None else place_of(self.made - self._warm_up_calls, lot)
        if place is not None:
            await checker.session.store()
            part = self._judge.part(loaded, call)
            # Memory that was filled before costs half as much as new.
            into = None if part else self._kept[place].outputs if place in self._kept else {}
            outputs = self._judge.collect_outputs(checker.session.channel, loaded, into)
            self._kept[place] = _Kept(call, key, part.of(outputs) if part else outputs)
        return times

    def check_kept(self) -> None:
        """Compare the answers that were kept; raises Failure if one is wrong."""
        while self._kept and self._loaded is not None:
            _, kept = self._kept.popitem()
            # The same again: to remember places takes twice the room of the values.
            trial = self._judge.remade(self._loaded, kept.key, kept.call)
            if failure := self._judge.fault(trial, kept.outputs):
                raise failure
            self.checked += 1
