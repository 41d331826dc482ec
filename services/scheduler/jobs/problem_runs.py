"""Whether runs take longer than before: runs of a problem are compared with runs of the same problem and mode alone."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median

LEAST_RUNS = 3
"""Fewer runs of a problem say too little, before or now."""
_SHORTEST = 1e-3
"""Seconds that a run of no time counts as."""


@dataclass
class ProblemRuns:
    """Times of runs of one problem in one mode on one GPU type, in seconds: the recent ones, and those before."""

    gpu_type: str
    recent: list[float] = field(default_factory=list[float])
    earlier: list[float] = field(default_factory=list[float])


def slowdowns(runs: Iterable[ProblemRuns]) -> Mapping[str, float]:
    """By GPU type, how many times as long as before recent runs take: the geometric mean over the problems.

    A GPU type without enough runs is left out.
    """
    logarithms: dict[str, list[float]] = defaultdict(list)
    for one in runs:
        if min(len(one.recent), len(one.earlier)) >= LEAST_RUNS:
            ratio = max(_SHORTEST, median(one.recent)) / max(_SHORTEST, median(one.earlier))
            logarithms[one.gpu_type].append(math.log(ratio))
    return {gpu_type: math.exp(fmean(logs)) for gpu_type, logs in logarithms.items()}
