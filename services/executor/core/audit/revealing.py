"""Makes timed calls again, to see that their answers came from their inputs and from nothing else.

If a device draws the calls of a large case, the answers stay on the device. Our runner commits itself to each answer as
soon as the call has ended (`commitment.py`). When all sessions are over, one more process with the same kernels gets
the inputs of some of these calls again, from all sessions mixed, as the run's secret chooses. It has to commit itself
to answers that are alike. Nobody in that process knows which work was left out in which call. So a kernel is found out
if it goes by the number of the call, by a clock, or by anything else that its process has. A wrong function of the
inputs is not found out in this way, so some of these answers are compared with the reference as well. If an excerpt of
the timed call was sent, it is put into the answer first. The answers are also compared with the reported values,
because a kernel may have written over our kernel that reports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.executor.core.audit.chain import Answer, fault_of_answer
from services.executor.core.call.commitment import Allowance, Commitment, are_alike
from services.executor.core.check.case_judge import CaseJudge, Trial
from services.executor.core.check.checking import Checker
from services.executor.core.check.mismatches import another_answer, late_answer
from services.executor.core.check.side_by_side import raise_first
from services.executor.core.measure.measuring import Measurement
from services.executor.core.model.failure import Failure

REPLAYED_CALLS = 24
"""The number of calls of a session that are made again, or all if it has fewer. Suppose that half of its samples are
wrong for a reason that is not in their inputs. Then none of the wrong ones is made again in one session of 2^24. A
false time needs two such sessions: one run of 2^48."""
REPLAY_SECONDS = 2.0
"""Time for the repeated calls of one session. Slower calls are made again as often as fits into it, but no fewer than
are compared. A session of such calls has at most 22 samples. If half of them are wrong, none of the wrong ones is made
again in one session of 1,900."""


@dataclass(frozen=True)
class Revealed:
    """The number of timed calls of a case that were made again, and of answers compared with the reference."""

    replayed: int
    checked: int


NOT_REVEALED = Revealed(0, 0)


def calls_to_replay(call_seconds: float, compared_answers: int) -> int:
    """Returns the number of calls of a session to make again, from the time of a call and the answers to compare."""
    return max(compared_answers, min(REPLAYED_CALLS, int(REPLAY_SECONDS / max(call_seconds, 1e-9))))


async def reveal(checker: Checker, judge: CaseJudge, sessions: Sequence[Measurement]) -> Revealed:
    """Makes some timed calls of a case again, in a process that made none of them; raises Failure if one differs."""
    random = checker.seed.generator("revealed", judge.case_index)
    chosen = [one for session in sessions for one in _chosen(session, random, judge.large.compared_answers)]
    loaded = await checker.load_undrawn(judge) if chosen else None
    if loaded is None:
        return NOT_REVEALED
    allowances = {name: Allowance() for name in loaded.layout.outputs}
    answers: list[partial[Failure | None]] = []
    for at in random.permutation(len(chosen)):
        reported, is_compared = chosen[int(at)]
        question = checker.question(judge, loaded, reported.call)
        again = (await checker.make_redrawn(judge, question, checker.next_call())).commitment
        is_alike = again is not None and _are_alike(judge, loaded, (reported, again), allowances)
        if again is None or (is_alike and not is_compared):
            continue
        needed = judge.needed(loaded, reported.call, question.excerpt) if question.excerpt else None
        await checker.session.store(needed)
        outputs = judge.collect_outputs(checker.session.channel, loaded, {}, needed)
        answers.append(partial(_fault, judge, loaded, (reported, again), outputs))
        if not is_alike:
            raise answers[-1]() or another_answer(judge.case, nondeterministic=judge.problem.nondeterministic)
        if len(answers) == judge.at_once:
            await raise_first(answers)
            answers.clear()
    await raise_first(answers)
    return Revealed(len(chosen), sum(is_compared for _, is_compared in chosen))


def _chosen(
    session: Measurement, random: np.random.Generator, compared_answers: int
) -> Iterable[tuple[Commitment, bool]]:
    """Yields the samples of a session to make again, and whether to compare the answer of each."""
    committed = [times.commitment for times in session.times if times.commitment]
    count = calls_to_replay(median(times.event_ns for times in session.times) / 1e9, compared_answers)
    for place, at in enumerate(random.permutation(len(committed))[:count]):
        yield committed[int(at)], place < compared_answers


def _are_alike(
    judge: CaseJudge, loaded: Trial, reported: tuple[Commitment, Commitment], allowances: dict[str, Allowance]
) -> bool:
    """True if two answers to the same inputs may both be right.

    `allowances` come from the calls before. If they are too narrow, the allowance of this very call is added to them.
    """
    if judge.problem.nondeterministic and not are_alike(*reported, allowances):
        timed, _ = reported
        granted = judge.allowances(judge.remade(loaded, timed.key, timed.call))
        allowances |= {name: one | allowances.get(name, Allowance()) for name, one in granted.items()}
    return are_alike(*reported, allowances)


def _fault(
    judge: CaseJudge, loaded: Trial, reported: tuple[Commitment, Commitment], outputs: dict[str, NDArray[Any]]
) -> Failure | None:
    """Returns the fault of a call that was timed and made again, from both reports and its second outputs."""
    timed, again = reported
    if isinstance(again.reported, tuple):
        return fault_of_answer(judge, loaded, Answer(again.key, again.call, outputs, again.reported))
    excerpt = judge.excerpt(loaded, timed.call)
    is_forged = any(again.reported[name].tobytes() != values.tobytes() for name, values in excerpt.of(outputs).items())
    if not isinstance(timed.reported, tuple):
        excerpt.put(timed.reported, outputs)
    seen = judge.remade(loaded, timed.key, timed.call)
    return judge.fault(seen, seen.compared(outputs)) or (late_answer(judge.case) if is_forged else None)
