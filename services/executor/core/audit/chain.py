"""The chained audit of one case: calls that each need the answer of the call before, timed by the judge's own clock.

Only our own runner makes chains: no chain proves the time of calls that host code of the submission launches. The judge
sends a nonce when it starts its clock. From then on, the runner's device makes the inputs of each link from the digest
of the outputs before it, calls the submission, and takes the digest of the new outputs. When the runner says that it is
done, the judge first reads all digests. Only then does it choose links and ask for their outputs. It makes their inputs
again from the digests, and checks both answers and digests. So nothing of a link can be known before the link before it
has ended, and no answer can be bent afterwards to a digest that was reported (see `chain_arithmetic.py`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.executor.core.audit.chain_audit import ChainMeasurement, ChainRule, instruments_apart, shortfall
from services.executor.core.call.idle_work import NO_TIME, IdleTime
from services.executor.core.call.layout import GUARD_BYTES, LinkRecord, read_records
from services.executor.core.call.runner_claims import interference
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.case_judge import CaseJudge, Trial
from services.executor.core.check.chain_arithmetic import digest_of, first_key, next_key
from services.executor.core.check.chain_rules import CannotChainError, confined, link_rules
from services.executor.core.check.checking import Checker
from services.executor.core.check.mismatches import late_answer
from services.executor.core.check.side_by_side import groups, raise_first
from services.executor.core.model.failure import Failure


@dataclass(frozen=True)
class ChainProfile:
    """The limits of the audit of one case.

    The audit makes a chain of `links` calls. While the claim seems untrue it makes more, up to `most_chains` in all and
    for at most `most_seconds`. The outputs of all links may take `most_bytes` on the device. If the arrays of all links
    together take at most `wholly_checked_bytes`, every link is checked; otherwise `checked_links` random links and the
    last one are. `quiet_chains` is the number of empty chains that are made before the submission has a process.
    """

    links: int
    most_chains: int
    most_seconds: float
    most_bytes: int
    wholly_checked_bytes: int = 256 << 20
    checked_links: int = 8
    quiet_chains: int = 0


# One chain is enough if it bears the claim out, because the shortest one counts. After that only a shorter empty chain
# could speak against the claim, so two are made before the submission has a process.
GPU_CHAINS = ChainProfile(links=32, most_chains=6, most_seconds=20.0, most_bytes=16 << 30, quiet_chains=2)
# Short chains, because other work on the cores disturbs long ones. Many of them, because one undisturbed chain is
# enough.
CPU_CHAINS = ChainProfile(links=2, most_chains=40, most_seconds=4.0, most_bytes=32 << 20)
# No call of a submission has this number.
_NO_CALL = 0


@dataclass(frozen=True)
class ChainAudit:
    """The chains of one case. If there are none, `why_none` says why, and the wall clock of single calls must do.

    `idle` is the time between orders. Empty chains are made then, and a submission could slow them.
    """

    chains: tuple[ChainMeasurement, ...]
    why_none: str = ""
    idle: IdleTime = NO_TIME

    def __add__(self, other: ChainAudit) -> ChainAudit:
        """Returns this audit with the chains of another process."""
        return ChainAudit((*self.chains, *other.chains), self.why_none or other.why_none, self.idle + other.idle)


async def quiet_null_ns(trusted: RunnerSession, judge: CaseJudge, profile: ChainProfile) -> int | None:
    """Measures the shortest quiet empty chain of a case, in ns; returns None if the case or the profile has none.

    Call this while the submission has no process. Kernels that can write over events can write launches into a queue
    too. They could keep the device busy whenever none of their calls is measured, and all empty chains would be slow.
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
    return min([await _empty_ns(trusted, trial, links, nonce, seconds) for nonce in range(profile.quiet_chains)])


async def audit_case(
    checker: Checker,
    trusted: RunnerSession,
    judge: CaseJudge,
    claimed_ns: float,
    limits: tuple[ChainProfile, ChainRule],
    quiet_ns: int | None = None,
) -> ChainAudit:
    """Makes chains until the claim is believed or the profile is spent; raises Failure if an answer is wrong.

    `trusted` is a session with a runner of our own (`trusted_runner.py`), `claimed_ns` the time that would be ranked,
    and `quiet_ns` the result of `quiet_null_ns`.
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
    """Returns the trial that a chain begins with, and its rules; raises CannotChainError."""
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
    """Makes an empty chain, and then one that begins with the inputs of `trial`."""
    links = _links(trial, profile)
    random = checker.seed.generator("chain", trial.call)
    nonce = int(random.integers(1 << 63))
    seconds = links * judge.problem.time_limit_seconds
    await checker.choose_program(judge, trial)
    await _prepare(trusted, judge, trial, links)
    null_ns = await _empty_ns(trusted, trial, links, nonce, seconds)
    # Only now, so that the device has turned to the submission's process before the clock starts: that takes an H200
    # 150 to 210 us (docs/measurements.md), which would be counted as time of the calls.
    await _prepare(checker.session, judge, trial, links)
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
            # A wrong answer counts before the failure of a later link.
            await raise_first(found)
            raise
        await raise_first(found)
    events_ns = tuple(float(record.event_ns) for record in records)
    return ChainMeasurement(links, wall_ns, null_ns, events_ns, len(chosen))


async def _empty_ns(trusted: RunnerSession, trial: Trial, links: int, nonce: int, seconds: float) -> int:
    """Returns the time of an empty chain without that of its calls, which launch a kernel that does nothing.

    So what is left is what any chain of launches costs: on a GPU, the gaps between the kernels too.
    """
    wall_ns = await trusted.run_chain(nonce, seconds)
    records = read_records(trusted.channel, trial.layout, links)
    return max(0, wall_ns - sum(record.event_ns for record in records or ()))


async def _prepare(session: RunnerSession, judge: CaseJudge, trial: Trial, links: int) -> None:
    judge.write(session.channel, trial)
    await session.load()
    await session.prepare_chain(links)


def _links(trial: Trial, profile: ChainProfile) -> int:
    return min(profile.links, profile.most_bytes // max(1, _slot_bytes(trial)))


def _chosen(links: int, call_bytes: int, profile: ChainProfile, random: np.random.Generator) -> Sequence[int]:
    """Returns the links to check; the last is always one of them."""
    if links * call_bytes <= profile.wholly_checked_bytes or links <= profile.checked_links + 1:
        return range(links)
    return [*sorted(int(link) for link in random.permutation(links - 1)[: profile.checked_links]), links - 1]


@dataclass(frozen=True)
class Answer:
    """The outputs of one call and their reported digest; `key` and `call` say which inputs it had.

    `remade` is the trial with these inputs, if it was made before.
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
    # A number of its own, so that products are checked by other vectors and rows in each link.
    call, channel = checker.next_call(), checker.session.channel
    await checker.session.fetch_link(link)
    if link < len(records) - 1:
        return Answer(key, call, judge.collect_outputs(channel, trial, {}), records[link].digest)
    # With the last link, the inputs come back as well.
    remade = judge.remade(trial, key, call)
    return Answer(key, call, judge.collect(channel, remade, {}), records[link].digest, remade)


def fault_of_answer(judge: CaseJudge, trial: Trial, answer: Answer) -> Failure | None:
    """Returns the fault of an answer or its digest, or None; the device made the inputs by the rules of `trial`."""
    at_call = answer.remade or judge.remade(trial, answer.key, answer.call)
    if failure := judge.fault(at_call, at_call.compared(answer.outputs)):
        return failure
    places = {parameter.name: at for at, parameter in enumerate(trial.layout.parameters)}
    digest = digest_of([(places[name], output) for name, output in answer.outputs.items()], answer.key)
    return None if digest == answer.digest else late_answer(judge.case)


def _slot_bytes(trial: Trial) -> int:
    regions = trial.layout.regions.values()
    return sum(region.data_bytes + 2 * GUARD_BYTES for region in regions if region.parameter.output)
