"""`wavepool projections`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type
from wavepool_client.commands.options import Client, Shown, answered
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.counts import counted
from wavepool_client.text.machines import dollars_text, money_text

REUSES = {
    "NONE": "a machine for each task",
    "SPREAD": "reuse, tasks at any time",
    "SITTINGS": "reuse, tasks in sittings",
}


@answered
def projections(
    gateway: Client,
    *,
    operator: Annotated[bool, typer.Option("--operator", help="Use the operator's history; for operators.")] = False,
    gpu: Annotated[str, typer.Option("--gpu", help="The GPU type.", autocompletion=complete_gpu_type)] = "",
) -> Shown:
    """Show the expected monthly cost of tasks, by their number a day and from past days."""
    found = gateway.projections({"gpu_type": gpu, "operator": operator})
    yield found
    results.print(f"Assumed: {assumed_text(found['assumptions'])}.", markup=False)
    columns = ("tasks a day", "machines", "warm", "a task", "a month", "grant lasts", "in circulation")
    claims = {claim.get("tasks_per_day"): claim for claim in found["circulating"]}
    yield table_of(columns, scenario_rows(found["scenarios"], claims))
    results.print("\n[bold]Omissions in the published figures[/bold]")
    for sentence in found["left_out"]:
        results.print(f"- {sentence}", markup=False)
    results.print("\n[bold]From past days[/bold]")
    for sentence in history_text(found["history"]):
        results.print(sentence, markup=False)


def assumed_text(assumed: dict[str, Any]) -> str:
    """All assumptions in one sentence, without its stop."""
    parts = [
        f"{assumed.get('gpu_type')} at {dollars_text(assumed.get('price_usd_per_hour'))} an hour",
        f"at least {assumed.get('minimum_billed_seconds'):g} s billed" if assumed.get("minimum_billed_seconds") else "",
        f"a cold start of {assumed.get('cold_start_seconds'):g} s",
        f"runs of {assumed.get('run_seconds'):g} s",
        f"an idle timeout of {assumed.get('idle_timeout_seconds'):g} s",
        f"{100 * assumed.get('warm_share', 0):.0f} % of the tasks in sittings find a machine",
        f"a grant of {dollars_text(assumed.get('grant_usd'))}",
        f"months of {assumed.get('days_per_month')} days",
    ]
    return ", ".join(part for part in parts if part)


def scenario_rows(scenarios: list[dict[str, Any]], claims: dict[Any, dict[str, Any]]) -> list[tuple[object, ...]]:
    """One line for each number of tasks and kind of reuse; the claim stands in the first of its number."""
    rows: list[tuple[object, ...]] = []
    for one in scenarios:
        number = one.get("tasks_per_day")
        for place, case in enumerate(one["cases"]):
            claim = claims.get(number) if place == 0 else None
            rows.append(
                (
                    number,
                    REUSES.get(str(case.get("reuse")), case.get("reuse")),
                    f"{100 * case.get('warm_share', 0):.0f} %",
                    money_text(case.get("task_usd")),
                    _cents(case.get("month_usd")),
                    _months(case.get("grant_months")),
                    _claim_text(claim) if claim else "",
                )
            )
    return rows


def history_text(history: dict[str, Any]) -> list[str]:
    """The projection from the days that were, in sentences."""
    days, costs = history.get("days", 0), history.get("task_costs")
    said = [f"{_cents(history.get('remaining_usd'))} remain."]
    if month := history.get("month"):
        low, middle, high = (_cents(month.get(name)) for name in ("low_usd", "middle_usd", "high_usd"))
        said.append(
            f"From {counted(days, 'day')}: a month costs {low} to {high} in four of five cases, "
            f"and {middle} in the middle."
        )
        if history.get("months_left_low") is not None:
            low, high = _months(history.get("months_left_low")), _months(history.get("months_left_high"))
            said.append(f"At that cost it lasts {low} to {high}.")
    else:
        said.append(
            f"A range needs {counted(history.get('least_days'), 'whole day')}, and there "
            f"{'is' if days == 1 else 'are'} {days}."
        )
    if costs:
        said.append(_task_text(costs))
    return said


def _task_text(costs: dict[str, Any]) -> str:
    tasks = counted(costs.get("tasks"), "task costs", "tasks cost")
    text = f"{tasks} {_cents(costs.get('spent_usd'))}, {money_text(costs.get('mean_usd'))} each"
    if costs.get("cold_usd") is not None:
        cold, warm = money_text(costs.get("cold_usd")), money_text(costs.get("warm_usd"))
        ones = counted(costs.get("cold_tasks"), "cold one")
        text += f": {cold} for each of {ones}, with the machine's start and idle time, and {warm} for a warm one"
    return f"{text}."


def _claim_text(claim: dict[str, Any]) -> str:
    low, high = _cents(claim.get("month_low_usd")), _cents(claim.get("month_high_usd"))
    return f"{low} to {high}, {counted(claim.get('grant_months'), 'month')}"


def _cents(usd: object) -> str:
    return f"${usd:,.2f}" if isinstance(usd, int | float) else "-"


def _months(months: object) -> str:
    return f"{months:.1f} months" if isinstance(months, int | float) else "for ever"
