"""Decides from the chains of a case whether the time that it is ranked by can be true.

In a chain the input of each call follows from the outputs before it. So a call cannot begin before the previous one has
a right answer, and the judge's clock around the whole chain cannot be forged. The cost of the chain without its calls
is known as well: just before, a runner of our own makes the same chain with calls that do nothing.

A disturbance only makes a chain longer, so the shortest is nearest to the truth. A claim is untrue only if it is too
short for every chain, and a judge that still doubts makes more chains. An honest kernel needs a single undisturbed one;
a forger would have to speed up all. A shared processor can be so busy that no chain is undisturbed: its chains prove a
claim or leave it in doubt, but accuse nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median


@dataclass(frozen=True)
class ChainMeasurement:
    """One chain of `calls`: the judge's time for it, the shortest of its empty chains, and the number of checked calls.

    `events_ns` is the runner's claim for each call of the chain; the caches are warm within it.
    """

    calls: int
    wall_ns: int
    null_ns: int
    events_ns: tuple[float, ...]
    checked: int


@dataclass(frozen=True)
class ChainRule:
    """The tolerated gap between a claim and the chains: a share of their time, and `slack_ns` for the clocks.

    A chain has one way to the runner and back, which varies. A claim is untrue only if it would be so had the empty
    chain had a way that was shorter by `way_ns`, which is the whole of it on this machine.
    If there is a `precision`, a time is proven only by a chain whose events and judge's clock differ by at most that
    share and `slack_ns`. The claim may be no farther below the chain's events and below the judge's clock.
    """

    least_share: float
    slack_ns: float
    precision: float | None = None
    way_ns: float = 0.0


GPU_CHAIN_RULE = ChainRule(least_share=0.9, slack_ns=2e3, precision=0.03)

CPU_CHAIN_RULE = ChainRule(least_share=0.75, slack_ns=100e3)
"""The cpu device shares its cores, and its times rank nowhere."""


def audited_call_ns(chains: Sequence[ChainMeasurement]) -> float | None:
    """Returns the least time of a call in ns by the judge's clock, from the shortest chains; None without any."""
    return _least_call_ns(chains) if chains else None


def audit_ratio(claimed_ns: float, chains: Sequence[ChainMeasurement]) -> float | None:
    """Returns the claimed time over the audited one, for the report; None if the chains are too short to tell."""
    audited = audited_call_ns(chains)
    return claimed_ns / audited if audited is not None and audited > 0 else None


def instruments_apart(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> str:
    """Says how the instruments disagree in the last chain; empty if they agree in any chain."""
    if rule.precision is None:
        return ""
    null_ns, proving = _shortest_null_ns(chains), replace(rule, least_share=1 - rule.precision)
    apart = [_apart_in(chain, claimed_ns, null_ns, proving) for chain in chains]
    return apart[-1] if apart and all(apart) else ""


def _apart_in(chain: ChainMeasurement, claimed_ns: float, null_ns: int, rule: ChainRule) -> str:
    call_ns = (chain.wall_ns - null_ns) / chain.calls
    events_ns, median_ns = fmean(chain.events_ns), median(chain.events_ns)
    # A chain that the host held up does not show how long its calls took, so it does not prove the events.
    if _is_too_short(events_ns, call_ns, rule) or _is_too_short(call_ns, events_ns, rule):
        both = f"{events_ns / 1e3:.1f} us of each call, and the judge's clock {call_ns / 1e3:.1f} us"
        return f"in a chain events say {both}"
    # Events of a chain are claims as well: their mean may agree with the judge's clock while most of them are short.
    least_ns = max(median_ns, call_ns)
    if _is_too_short(claimed_ns, least_ns, rule):
        return f"a call is said to take {claimed_ns / 1e3:.1f} us, and in a chain {least_ns / 1e3:.1f} us"
    return ""


def shortfall(claimed_ns: float, chains: Sequence[ChainMeasurement], rule: ChainRule) -> str:
    """Says how a claim is too short for every chain; empty if a chain bears it out, or if there are no chains."""
    audited = audited_call_ns(chains)
    if audited is None or not _is_too_short(claimed_ns, _least_call_ns(chains, rule.way_ns), rule):
        return ""
    return (
        f"calls are said to take {claimed_ns / 1e3:.1f} us, but when each needed the answer of the one before, the "
        f"judge waited {audited / 1e3:.1f} us for each"
    )


def _least_call_ns(chains: Sequence[ChainMeasurement], way_ns: float = 0.0) -> float:
    null_ns = _shortest_null_ns(chains)
    return min((chain.wall_ns - null_ns - way_ns) / chain.calls for chain in chains)


def _shortest_null_ns(chains: Sequence[ChainMeasurement]) -> int:
    return min((chain.null_ns for chain in chains), default=0)


def _is_too_short(claimed_ns: float, call_ns: float, rule: ChainRule) -> bool:
    return claimed_ns < rule.least_share * call_ns - rule.slack_ns
