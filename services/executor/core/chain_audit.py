"""Whether the time that a case is ranked by can be true, as its chains tell.

In a chain the input of each call follows from the outputs before it, so a call cannot begin before the previous one has
a right answer, and the judge's clock around the whole chain cannot be forged. What the chain costs without its calls is
known from a runner of our own that makes the same chain with calls that do nothing: beside each chain, and a few times
before the submission has a process that could slow it on purpose.

Chains only ever take too long: the shortest is nearest to the truth. So a claim is untrue only when it is too short for
every one of them, and a judge that still doubts makes more chains. An honest kernel needs a single undisturbed one; a
forger would have to speed up all.

Where a processor is shared, it can be so busy that no chain is undisturbed. Empty chains tell: they all do the same, so
where most of them take much longer than the shortest, nobody is accused. They do not tell all: they have one thread and
little to do, so a scheduler lets them through where calls with many threads wait. So nobody is accused either where
many chains are only as long as they are because threads waited for a processor, as the kernel counts it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


# Share of the chains that may look untrue by chance.
_MOST_DISTURBED = 0.7


@dataclass(frozen=True)
class ChainMeasurement:
    """One chain of `calls`: the judge's time for it, that of the empty chain beside it, and how many were checked.

    `events_ns` is what the runner claims of each call within the chain: caches are warm there.
    `waited_ns` is what threads of the runner and the judge waited for a processor, together (`run_queue.py`).
    `quiet_null_ns` is the shortest empty chain of the case while the submission had no process, where one was made.
    """

    calls: int
    wall_ns: int
    null_ns: int
    events_ns: tuple[float, ...]
    checked: int
    waited_ns: int = 0
    quiet_null_ns: int | None = None

    @property
    def shortest_null_ns(self) -> int:
        """Of the empty chains that are known."""
        return self.null_ns if self.quiet_null_ns is None else min(self.null_ns, self.quiet_null_ns)


@dataclass(frozen=True)
class ChainRule:
    """How far a claim may be below what the chains say: a share of it, and `slack_ns` for the clocks.

    With a `precision` a time is proven only if there is a chain whose events and the judge's clock are apart by no more
    than that share and `slack_ns`, and the claim is as little short of the chain's events.

    Nobody is accused by fewer than `fewest_chains`, nor where the median of the empty chains is more than
    `busy_factor` times the shortest; nor, where `waits_excuse`, unless most chains are too long without their waits.
    """

    least_share: float
    slack_ns: float
    fewest_chains: int = 1
    busy_factor: float = math.inf
    waits_excuse: bool = False
    precision: float | None = None


GPU_CHAIN_RULE = ChainRule(least_share=0.9, slack_ns=2e3, precision=0.03)

CPU_CHAIN_RULE = ChainRule(least_share=0.75, slack_ns=100e3, fewest_chains=20, busy_factor=1.5, waits_excuse=True)
"""The cpu device shares its cores, and its times rank nowhere. Half of a true millisecond is found out all the same."""


def audited_call_ns(chains: Sequence[ChainMeasurement]) -> float | None:
    """What a call takes at least, by the judge's clock, from the shortest chains; None without any."""
    null_ns = _shortest_null_ns(chains)
    return min(((chain.wall_ns - null_ns) / chain.calls for chain in chains), default=None)


def audit_ratio(claimed_ns: float, chains: Sequence[ChainMeasurement]) -> float | None:
    """The claimed time over the audited one, for the report; None where the chains are too short to tell."""
    audited = audited_call_ns(chains)
    return claimed_ns / audited if audited is not None and audited > 0 else None


def is_busy(chains: Sequence[ChainMeasurement], rule: ChainRule) -> bool:
    """Whether the machine has so much else to do that chains prove nothing."""
    nulls_ns = [chain.null_ns for chain in chains]
    return bool(nulls_ns) and median(nulls_ns) > rule.busy_factor * _shortest_null_ns(chains)


def is_excused(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> bool:
    """Whether many chains took too long for a claim only because somebody waited for a processor."""
    if not rule.waits_excuse or not chains:
        return False
    null_ns = _shortest_null_ns(chains)
    working_ns = [(chain.wall_ns - chain.waited_ns - null_ns) / chain.calls for chain in chains]
    untrue = sum(_is_too_short(claimed_ns, working, rule) for working in working_ns)
    return untrue <= _MOST_DISTURBED * len(chains)


def is_disturbed(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> bool:
    """Whether chains prove nothing for want of a processor."""
    return is_busy(chains, rule) or is_excused(claimed_ns, chains, rule)


def instruments_apart(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> str:
    """How the instruments disagree in every chain, as in the last of them; empty if they agree in one."""
    if rule.precision is None:
        return ""
    null_ns, proving = _shortest_null_ns(chains), replace(rule, least_share=1 - rule.precision)
    apart = [_apart_in(chain, claimed_ns, null_ns, proving) for chain in chains]
    return apart[-1] if apart and all(apart) else ""


def _apart_in(chain: ChainMeasurement, claimed_ns: float, null_ns: int, rule: ChainRule) -> str:
    call_ns = (chain.wall_ns - null_ns) / chain.calls
    events_ns, median_ns = fmean(chain.events_ns), median(chain.events_ns)
    # A chain that the host held up tells less than its calls took: that is no proof of what events say.
    if _is_too_short(events_ns, call_ns, rule) or _is_too_short(call_ns, events_ns, rule):
        both = f"{events_ns / 1e3:.1f} us of each call, and the judge's clock {call_ns / 1e3:.1f} us"
        return f"in a chain events say {both}"
    if _is_too_short(claimed_ns, median_ns, rule):
        return f"a call is said to take {claimed_ns / 1e3:.1f} us, and in a chain {median_ns / 1e3:.1f} us"
    return ""


def is_doubtful(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> bool:
    """Whether every chain so far took too long for a claim."""
    audited = audited_call_ns(chains)
    return audited is not None and _is_too_short(claimed_ns, audited, rule)


def _shortest_null_ns(chains: Sequence[ChainMeasurement]) -> int:
    return min((chain.shortest_null_ns for chain in chains), default=0)


def _is_too_short(claimed_ns: float, call_ns: float, rule: ChainRule) -> bool:
    return claimed_ns < rule.least_share * call_ns - rule.slack_ns


def chain_doubt(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> str:
    """Why the chains neither bear a claim out nor prove it untrue; empty where they do one of the two."""
    if not is_doubtful(claimed_ns, chains, rule):
        return ""
    if is_busy(chains, rule):
        nulls_ns = [chain.null_ns for chain in chains]
        factor = median(nulls_ns) / _shortest_null_ns(chains)
        return f"the host was too busy: half of the empty chains took over {factor:.1f} times as long as the shortest"
    if is_excused(claimed_ns, chains, rule):
        waited, wall = (sum(times) / 1e6 for times in zip(*((c.waited_ns, c.wall_ns) for c in chains), strict=True))
        return f"the host was too busy: in {wall:.1f} ms of chains, threads waited {waited:.1f} ms for a processor"
    if len(chains) < rule.fewest_chains:
        return f"the host was too slow: there was time for {len(chains)} of {rule.fewest_chains} chains"
    return ""


def chain_fault(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> str | None:
    """Why a claimed median cannot be true, or None."""
    if not 0 < claimed_ns < math.inf:
        return "a call is said to have taken no time at all"
    audited = audited_call_ns(chains)
    if audited is None or len(chains) < rule.fewest_chains:
        return None
    if is_disturbed(claimed_ns, chains, rule) or not is_doubtful(claimed_ns, chains, rule):
        return None
    return (
        f"calls are said to take {claimed_ns / 1e3:.1f} us, but when each needed the answer of the one before, the "
        f"judge waited {audited / 1e3:.1f} us for each"
    )
