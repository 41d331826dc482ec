"""The chained audit of one case: calls of which each needs the answer of the one before, on the judge's own clock.

It is made of what our own runner launches: no chain proves the time of what host code of the submission launched.
The judge gives a nonce when it starts its clock. From there on the runner's device makes each link's inputs from the
digest of the outputs before, calls the submission, and takes the digest of what it wrote. When it says that it is done,
the judge reads all digests first, then asks for outputs, of links that it chooses only now; makes their inputs again
from the digests; and checks answers and digests. Nothing of a link can be known before the one before it has ended,
and no answer can be bent afterwards to a digest that was reported (see `chain_arithmetic.py`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from services.executor.core.audit.chain_audit import ChainMeasurement, ChainRule, instruments_apart, shortfall
from services.executor.core.call.idle_work import NO_TIME, IdleTime
from services.executor.core.call.layout import GUARD_BYTES, LinkRecord, read_records
from services.executor.core.call.runner_claims import interference
from services.executor.core.check.chain_arithmetic import digest_of, first_key, next_key
from services.executor.core.check.chain_rules import CannotChainError, confined, link_rules
from services.executor.core.check.mismatches import late_answer
from services.executor.core.check.side_by_side import groups, raise_first
from services.executor.core.model.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from services.executor.core.call.runner_session import RunnerSession
    from services.executor.core.check.case_judge import CaseJudge, Trial
    from services.executor.core.check.checking import Checker


@dataclass(frozen=True)
class ChainProfile:
    """What to spend on the audit of one case.

    A chain of `links` calls is made, and up to `most_chains` while the claim seems untrue, for `most_seconds`; outputs
    of all links may take `most_bytes` on the device. All links are checked where their arrays, as often as there are
    links, take up to `wholly_checked_bytes`, else `checked_links` at random and the last.
    `quiet_chains` empty ones are made before the submission has a process.
    """

    links: int
    most_chains: int
    most_seconds: float
    most_bytes: int
    wholly_checked_bytes: int = 256 << 20
    checked_links: int = 8
    quiet_chains: int = 0


# One chain will do if it bears the claim out: the shortest counts. Only a shorter empty chain could still speak against
# the claim, and two are made before the submission has a process.
GPU_CHAINS = ChainProfile(links=32, most_chains=6, most_seconds=20.0, most_bytes=16 << 30, quiet_chains=2)
# Short chains, as whoever shares the cores disturbs long ones; and more of them, as one undisturbed is enough.
CPU_CHAINS = ChainProfile(links=2, most_chains=40, most_seconds=4.0, most_bytes=32 << 20)
# Of no call of a submission's.
_NO_CALL = 0


@dataclass(frozen=True)
class ChainAudit:
    """The chains of one case; without any, `why_none` says why, and the wall clock of single calls must do.

    `idle` is the time between orders: empty chains are made there, which a submission could slow.
    """

    chains: tuple[ChainMeasurement, ...]
    why_none: str = ""
    idle: IdleTime = NO_TIME

    def __add__(self, other: ChainAudit) -> ChainAudit:
        """With the chains of another process."""
        return ChainAudit((*self.chains, *other.chains), self.why_none or other.why_none, self.idle + other.idle)


async def quiet_null_ns(trusted: RunnerSession, judge: CaseJudge, profile: ChainProfile) -> int | None:
    """The shortest of the quiet empty chains of a case whose kernels we launch; None where it has none.

    To be asked while the submission has no process. Kernels that can write over events can write launches into a queue
    too. They could keep the device busy whenever nothing of theirs is measured, and all empty chains would be slow.
    """
    if not profile.quiet_chains:
        return None
    try:
        trial = _begun(judge, _NO_CALL, profile)
    except CannotChainError:
        return None
    links = _links(trial, profile)
    await _prepare(trusted, judge, trial, links)
    seconds = links * judge.problem.time_limit_seconds
    return min([await trusted.run_chain(nonce, seconds) for nonce in range(profile.quiet_chains)])


async def audit_case(
    checker: Checker,
    trusted: RunnerSession,
    judge: CaseJudge,
    claimed_ns: float,
    limits: tuple[ChainProfile, ChainRule],
    quiet_ns: int | None = None,
) -> ChainAudit:
    """Make chains until the claim is believed, or the profile is spent; raises Failure for a wrong answer.

    `trusted` is a session with a runner of our own (`trusted_runner.py`), `claimed_ns` the time that would be ranked,
    `quiet_ns` what `quiet_null_ns` gave.
    """
    profile, rule = limits
    idle_before = checker.session.idle
    try:
        trial = _begun(judge, checker.next_call(), profile)
    except CannotChainError as error:
        return ChainAudit((), str(error))
    chains: list[ChainMeasurement] = []
    begin = time.perf_counter()
    while len(chains) < profile.most_chains and time.perf_counter() - begin < profile.most_seconds:
        if chains:
            trial = _begun(judge, checker.next_call(), profile)
        chain = await _measure(checker, trusted, judge, trial, profile)
        chains.append(replace(chain, null_ns=min(chain.null_ns, quiet_ns or chain.null_ns)))
        if not shortfall(claimed_ns, chains, rule) and not instruments_apart(claimed_ns, chains, rule):
            break
    return ChainAudit(tuple(chains), idle=checker.session.idle - idle_before)


def _begun(judge: CaseJudge, call: int, profile: ChainProfile) -> Trial:
    """What a chain begins with, and its rules; raises CannotChainError."""
    trial = judge.undrawn(call, profile.links)
    if trial is None:
        trial = judge.draw(call, profile.links)
        inputs = confined(judge.problem, trial.inputs)
        trial = replace(trial, inputs=inputs, rules=link_rules(judge.problem, inputs))
    if not _links(trial, profile):
        raise CannotChainError("the outputs are too large to keep")
    return trial


async def _measure(
    checker: Checker, trusted: RunnerSession, judge: CaseJudge, trial: Trial, profile: ChainProfile
) -> ChainMeasurement:
    """One chain, which begins with the inputs of `trial`, and the empty one just before it."""
    links = _links(trial, profile)
    random = checker.seed.generator("chain", trial.call)
    nonce = int(random.integers(1 << 63))
    seconds = links * judge.problem.time_limit_seconds
    await checker.choose_program(judge, trial)
    for session in (trusted, checker.session):
        await _prepare(session, judge, trial, links)
    null_ns = await trusted.run_chain(nonce, seconds)
    wall_ns = await checker.session.run_chain(nonce, seconds)
    records = read_records(checker.session.channel, trial.layout, links)
    if records is None:
        raise interference("the shared memory was cut")
    chosen = _chosen(links, trial.layout.file_bytes, profile, random)
    for some in groups(chosen, judge.at_once):
        found: list[partial[Failure | None]] = []
        try:
            for link in some:
                answer = await _fetched(checker, judge, trial, link, (nonce, records))
                found.append(partial(fault_of_answer, judge, trial, answer))
        except Failure:
            # A wrong answer counts before what the links after it did.
            await raise_first(found)
            raise
        await raise_first(found)
    events_ns = tuple(float(record.event_ns) for record in records)
    return ChainMeasurement(links, wall_ns, null_ns, events_ns, len(chosen))


async def _prepare(session: RunnerSession, judge: CaseJudge, trial: Trial, links: int) -> None:
    judge.write(session.channel, trial)
    await session.load()
    await session.prepare_chain(links)


def _links(trial: Trial, profile: ChainProfile) -> int:
    return min(profile.links, profile.most_bytes // max(1, _slot_bytes(trial)))


def _chosen(links: int, call_bytes: int, profile: ChainProfile, random: np.random.Generator) -> Sequence[int]:
    """The links to check; the last is always one of them."""
    if links * call_bytes <= profile.wholly_checked_bytes or links <= profile.checked_links + 1:
        return range(links)
    return [*sorted(int(link) for link in random.permutation(links - 1)[: profile.checked_links]), links - 1]


@dataclass(frozen=True)
class Answer:
    """The outputs of one call and their digest as it was reported; `key` and `call` say what its inputs were.

    `remade` is the trial with these, if it was made before.
    """

    key: int
    call: int
    outputs: dict[str, NDArray[Any]]
    digest: tuple[int, int]
    remade: Trial | None = None


async def _fetched(
    checker: Checker, judge: CaseJudge, trial: Trial, link: int, reported: tuple[int, Sequence[LinkRecord]]
) -> Answer:
    nonce, records = reported
    key = next_key(records[link - 1].digest, nonce) if link else first_key(nonce)
    # A number of its own: products are checked by other vectors and rows in each.
    call, channel = checker.next_call(), checker.session.channel
    await checker.session.fetch_link(link)
    if link < len(records) - 1:
        return Answer(key, call, judge.collect_outputs(channel, trial, {}), records[link].digest)
    # With the last, the inputs come back as well.
    remade = judge.remade(trial, key, call)
    return Answer(key, call, judge.collect(channel, remade, {}), records[link].digest, remade)


def fault_of_answer(judge: CaseJudge, trial: Trial, answer: Answer) -> Failure | None:
    """What is wrong with an answer to inputs that the device made by the rules of `trial`, or with its digest."""
    at_call = answer.remade or judge.remade(trial, answer.key, answer.call)
    if failure := judge.fault(at_call, at_call.compared(answer.outputs)):
        return failure
    places = {parameter.name: at for at, parameter in enumerate(trial.layout.parameters)}
    digest = digest_of([(places[name], output) for name, output in answer.outputs.items()], answer.key)
    return None if digest == answer.digest else late_answer(judge.case)


def _slot_bytes(trial: Trial) -> int:
    regions = trial.layout.regions.values()
    return sum(region.data_bytes + 2 * GUARD_BYTES for region in regions if region.parameter.output)
