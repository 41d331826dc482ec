"""Timed calls made again: whether their answers came from their inputs, and from nothing else.

Of a large case whose calls a device draws, the answers stay where they are. Our runner commits itself to each as soon
as the call has ended: it digests the outputs on the device (`Commitment`). When all sessions are over, one more process
with the same kernels is given the inputs of some of these calls again, of all sessions mixed, as the run's secret
chooses, and its digests have to be the same. Nobody in it knows what was left out when: a kernel that goes by the
number of the call, a clock, or whatever else its process has, is found out however little it leaves out. A function of
its inputs is not, so some of these answers are compared with the reference as well, and with the digest that was told:
a kernel may have written over our own that digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from services.executor.core.audit.chain import Answer, fault_of_answer
from services.executor.core.check.mismatches import another_answer
from services.executor.core.check.side_by_side import raise_first
from services.executor.core.measure.timed_calls import COMPARED_ANSWERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from services.executor.core.call.session import Commitment
    from services.executor.core.check.case_judge import CaseJudge
    from services.executor.core.check.checking import Checker
    from services.executor.core.measure.measuring import Measurement

REPLAYED_CALLS = 24
"""Of a session, or all if it has fewer. If half of its samples are wrong for a reason that is not in their inputs, none
of those is made again in one session of 2^24, and in two sessions, which a false time needs, in one run of 2^48."""
REPLAY_SECONDS = 2.0
"""Of a session. Slower calls are made again as often as fits into it, but no fewer than are compared: of the 22 samples
that a session has at the most then, half of them wrong, none is made again in one session of 1,900."""


@dataclass(frozen=True)
class Revealed:
    """How many timed calls of a case were made again, and how many of their answers compared with the reference."""

    replayed: int
    checked: int


NOT_REVEALED = Revealed(0, 0)


def calls_to_replay(call_seconds: float) -> int:
    """How many calls of a session to make again if each takes so long."""
    return max(COMPARED_ANSWERS, min(REPLAYED_CALLS, int(REPLAY_SECONDS / max(call_seconds, 1e-9))))


async def reveal(checker: Checker, judge: CaseJudge, sessions: Sequence[Measurement]) -> Revealed:
    """Make some timed calls of a case again, in a process that made none of them; raises Failure if one is unlike."""
    random = checker.seed.generator("revealed", judge.case_index)
    chosen = [one for session in sessions for one in _chosen(session, random)]
    loaded = await checker.load_undrawn(judge) if chosen else None
    if loaded is None:
        return NOT_REVEALED
    answers: list[Answer] = []
    for at in random.permutation(len(chosen)):
        told, is_compared = chosen[int(at)]
        call = checker.next_call()
        again = (await checker.make_redrawn(judge, told.key, call)).commitment
        if again is None or not (is_compared or again != told):
            continue
        await checker.session.store()
        outputs = judge.collect_outputs(checker.session.channel, loaded, {})
        answers.append(Answer(told.key, call, outputs, again.digest))
        if again != told:
            raise fault_of_answer(judge, loaded, answers[-1]) or another_answer(judge.case)
        if len(answers) == judge.at_once:
            await raise_first([partial(fault_of_answer, judge, loaded, answer) for answer in answers])
            answers.clear()
    await raise_first([partial(fault_of_answer, judge, loaded, answer) for answer in answers])
    return Revealed(len(chosen), sum(is_compared for _, is_compared in chosen))


def _chosen(session: Measurement, random: np.random.Generator) -> Iterable[tuple[Commitment, bool]]:
    """What to make again of a session's samples, and whether to compare its answer."""
    committed = [times.commitment for times in session.times if times.commitment]
    count = calls_to_replay(median(times.event_ns for times in session.times) / 1e9)
    for place, at in enumerate(random.permutation(len(committed))[:count]):
        yield committed[int(at)], place < COMPARED_ANSWERS
