"""What a number of tasks a day costs a month, and how long the grant lasts, with and without reuse of machines.

Theory of operation. Tasks arrive at random, L a second, and one machine serves them one after the other. It is let go
when it has been idle for the timeout w, and a task that finds none waits for a cold start of c seconds. That is a
queue with set-up times: with runs of r seconds, a share p = (1 - L r) / (1 + L c exp(-L w)) of the tasks leaves
nothing waiting behind it. So p exp(-L w) of the tasks are cold, and the machine idles for p (1 - exp(-L w)) / L
seconds for each task. A task takes the machine's time for its run, for that idle time, and, if it is cold, for a
start. From L r = 1 on, machines never idle.

If tasks come in sittings, L is the rate at which the measured share of them is warm: faster than their number a day
says. Without reuse each task pays for a start and its run, and for no idle time. A machine costs its tariff for the
mean time that it lives, so a minimum is counted at its least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError
from vocabulary.money import dollars_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vocabulary.money import Tariff

DAYS_PER_MONTH = 30
TASKS_PER_DAY = (10, 50, 200)
MOST_MONTH_MICROS = 10**15
"""One billion dollars."""
_SECONDS_PER_DAY = 86_400
_LEAST_COLD_SHARE = 1e-9
"""With less, a machine lives as good as for ever."""
_HALVINGS = 60
"""More than a float has binary digits."""


@dataclass(frozen=True)
class Assumptions:
    """What the cost of a task is computed from; docs/billing/projections.md says where the durations come from."""

    tariff: Tariff
    """What a machine with one GPU costs. It is the price that users pay, as each provider has its own cost."""
    grant_micros: int
    cold_start: timedelta = timedelta(seconds=210)
    run: timedelta = timedelta(seconds=28)
    idle_timeout: timedelta = timedelta(minutes=5)
    warm_share: float = 44 / 47
    """Of tasks that come in sittings."""


class Reuse(StrEnum):
    """How machines are used again, and when tasks come."""

    NONE = "none"
    """Each task gets a machine of its own."""
    SPREAD = "spread"
    """A machine waits for the next task; tasks come at any time of the day or night."""
    SITTINGS = "sittings"
    """A machine waits for the next task; tasks come in sittings, so that the assumed share of them is warm."""


@dataclass(frozen=True)
class Case:
    """The cost of a number of tasks a day with one kind of reuse."""

    reuse: Reuse
    warm_share: float
    idle_per_task: timedelta
    billed_per_task: timedelta
    task_micros: int
    month_micros: int
    grant_months: float | None
    """Months until the grant ends; None if nothing costs anything."""


@dataclass(frozen=True)
class Scenario:
    """A number of tasks a day, with each kind of reuse."""

    tasks_per_day: int
    cases: Sequence[Case]


def scenario(assumed: Assumptions, tasks_per_day: int) -> Scenario:
    """The costs of a number of tasks a day; raises InvalidFieldError if the price is out of all proportion."""
    return Scenario(
        tasks_per_day,
        [
            _case(assumed, tasks_per_day, Reuse.NONE, 1.0, timedelta(0)),
            _reused(assumed, tasks_per_day, Reuse.SPREAD, tasks_per_day / _SECONDS_PER_DAY),
            _reused(assumed, tasks_per_day, Reuse.SITTINGS, _rate_in_sittings(assumed)),
        ],
    )


def _rate_in_sittings(assumed: Assumptions) -> float:
    """Tasks a second at which the assumed share of them is warm."""
    slow, fast = 0.0, 1 / assumed.run.total_seconds()
    for _ in range(_HALVINGS):
        rate = (slow + fast) / 2
        if 1 - _shares(assumed, rate)[0] < assumed.warm_share:
            slow = rate
        else:
            fast = rate
    return slow


def _reused(assumed: Assumptions, tasks_per_day: int, reuse: Reuse, rate: float) -> Case:
    cold_share, idle_seconds = _shares(assumed, rate)
    return _case(assumed, tasks_per_day, reuse, cold_share, timedelta(seconds=idle_seconds))


def _shares(assumed: Assumptions, rate: float) -> tuple[float, float]:
    """The cold share of tasks that come at a rate a second, and the seconds that a machine idles for each of them."""
    run, timeout, start = (time.total_seconds() for time in (assumed.run, assumed.idle_timeout, assumed.cold_start))
    if not rate:
        return 1.0, timeout
    let_go = math.exp(-rate * timeout)
    last_of_all = max(0.0, 1 - rate * run) / (1 + rate * start * let_go)
    return last_of_all * let_go, last_of_all * -math.expm1(-rate * timeout) / rate


def _case(assumed: Assumptions, tasks_per_day: int, reuse: Reuse, cold_share: float, idle: timedelta) -> Case:
    used = assumed.run + idle + assumed.cold_start * cold_share
    # A machine lives from one cold task until before the next.
    lives = used / max(_LEAST_COLD_SHARE, cold_share)
    billed = used + (assumed.tariff.billed(lives) - lives) * cold_share
    month = assumed.tariff.price_of(billed * tasks_per_day * DAYS_PER_MONTH)
    if month > MOST_MONTH_MICROS:
        raise InvalidFieldError("gpu_type", f"would cost more than {dollars_text(MOST_MONTH_MICROS)} a month")
    return Case(
        reuse,
        warm_share=1 - cold_share,
        idle_per_task=idle,
        billed_per_task=billed,
        task_micros=assumed.tariff.price_of(billed),
        month_micros=month,
        grant_months=assumed.grant_micros / month if month else None,
    )
