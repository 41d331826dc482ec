"""The figures that are in circulation for a month's cost, and what they leave out, computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from services.billing.projections.scenario import DAYS_PER_MONTH, Assumptions
from vocabulary.money import Tariff, dollars_of, dollars_text

TASK_MICROS = 50_000
"""$0.05 a task, which is said as well."""


@dataclass(frozen=True)
class CirculatingFigure:
    """A claim: so many tasks a day cost so much a month, and the grant lasts so many months."""

    tasks_per_day: int
    low_micros: int
    high_micros: int
    months: int


CIRCULATING = (
    CirculatingFigure(10, 15_000_000, 30_000_000, 8),
    CirculatingFigure(50, 75_000_000, 150_000_000, 5),
    CirculatingFigure(200, 300_000_000, 400_000_000, 3),
)


def left_out(assumed: Assumptions) -> Sequence[str]:
    """What the figures in circulation leave out, in sentences."""
    tariff = assumed.tariff
    pays_for = timedelta(hours=1) * TASK_MICROS / tariff.price_micros_per_hour if tariff.price_micros_per_hour else None
    sentences = [_months_sentence(figure, assumed.grant_micros) for figure in CIRCULATING]
    sentences += [_task_sentence(figure) for figure in CIRCULATING]
    if pays_for is not None:
        sentences.append(
            f"{dollars_text(TASK_MICROS)} a task pays for {pays_for.total_seconds():.1f} s of a machine at "
            f"{dollars_text(tariff.price_micros_per_hour)} an hour."
        )
    start, idle, run = (_time(one, tariff) for one in (assumed.cold_start, assumed.idle_timeout, assumed.run))
    sentences.append(f"A cold start of {start}, an idle timeout of {idle}, and a run of {run}.")
    if tariff.minimum:
        sentences.append(f"Every machine is billed for at least {_time(tariff.minimum, tariff)}.")
    return sentences


def _time(duration: timedelta, tariff: Tariff) -> str:
    return f"{duration.total_seconds():g} s costs {dollars_text(tariff.price_of(duration))}"


def _months_sentence(figure: CirculatingFigure, grant_micros: int) -> str:
    low, high, months = figure.low_micros, figure.high_micros, figure.months
    return (
        f"{months} months at {dollars_text(low)} to {dollars_text(high)} are {dollars_text(months * low)} to "
        f"{dollars_text(months * high)}, not {dollars_text(grant_micros)}: at that cost the grant lasts "
        f"{grant_micros / high:.1f} to {grant_micros / low:.1f} months."
    )


def _task_sentence(figure: CirculatingFigure) -> str:
    tasks = figure.tasks_per_day * DAYS_PER_MONTH
    low, high = figure.low_micros, figure.high_micros
    return (
        f"{figure.tasks_per_day} tasks a day for {dollars_text(low)} to {dollars_text(high)} a month are "
        f"${dollars_of(low) / tasks:.3f} to ${dollars_of(high) / tasks:.3f} a task."
    )
