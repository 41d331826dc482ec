"""Shows the end of a submission, and tables of other things, to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rich.markup import escape
from rich.table import Table

from wavepool_client.terminal.output import results
from wavepool_client.text.columns import Column, Fields
from wavepool_client.text.counts import counted
from wavepool_client.text.machines import cost_text
from wavepool_client.text.narration import format_milliseconds, format_number, not_converged
from wavepool_client.text.profile import COLUMNS as PROFILE_COLUMNS
from wavepool_client.text.profile import profile_rows, profile_title
from wavepool_client.text.samples import sample_text
from wavepool_client.text.timing import is_measured, plus_minus, timing_colour, timing_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wavepool_client.outcome import Result

SHOWN_MISMATCHES = 8
SHOWN_OUTPUT_LINES = 40
"""The last lines are shown, because they have the cause of the program's end."""
EACH_TWICE = " (a case may be run more than once, and each run prints)"
TIMED_HOW = {
    "cold": "caches were swept before each call",
    "hot": "caches were as the new inputs left them",
    "first-call": "each call was the first of a fresh process",
}


def print_result(result: Result) -> None:
    """Prints the verdict, the details, and the times if there are any."""
    colour = "green" if result.accepted else "red"
    timing = timing_text(result.data)
    beside = f"  [bold {timing_colour(result.data)}]{escape(timing)}[/]" if timing else ""
    results.print(f"[bold {colour}]{escape(result.status)}[/]{beside}  {escape(result.message)}".rstrip())
    if result.details:
        results.print(escape(result.details.rstrip()))
    for stream in ("stdout", "stderr"):
        _print_output(stream + (EACH_TWICE if result.total_tests else ""), str(result.data.get(stream) or ""))
    for line in sample_text(result.data):
        results.print(line, markup=False)
    _print_mismatches(result.data.get("debug_info"))
    _print_failed_tests(result.data.get("test_results"))
    _print_benchmarks(result)
    _print_profile(result.data.get("profile"))
    facts = {"verdict": result.verdict, "tests": _tests(result), "cost": _cost(result), "id": result.id}
    results.print("  ".join(f"[dim]{name}[/dim] {escape(value)}" for name, value in facts.items() if value))


def table_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A plain table; None is shown as `-`. The first column, which people copy from, is never cut."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=not table.columns, overflow="fold")
    for row in rows:
        table.add_row(*("-" if cell is None or cell == "" else escape(str(cell)) for cell in row))
    return table


def listing(items: Iterable[Fields], columns: Mapping[str, Column]) -> Table:
    """A table with a line for each item; a column has the item's field of that name, or what its function says."""
    rows = ([item.get(one) if isinstance(one, str) else one(item) for one in columns.values()] for item in items)
    return table_of(tuple(columns), rows)


def _tests(result: Result) -> str:
    return f"{result.passed_tests}/{result.total_tests}" if result.total_tests else ""


def _cost(result: Result) -> str:
    return cost_text(result.cost_usd, result.billable_seconds)


def _print_output(stream: str, text: str) -> None:
    """Prints the end of the program's output; the JSON has all of it."""
    lines = text.splitlines()
    if not lines:
        return
    left_out = len(lines) - SHOWN_OUTPUT_LINES
    without = f", without its first {'line' if left_out == 1 else f'{left_out} lines'}" if left_out > 0 else ""
    results.print(f"[dim]{stream}{without}:[/dim]")
    for line in lines[-SHOWN_OUTPUT_LINES:]:
        results.print(f"  {line}", markup=False, highlight=False)


def _print_mismatches(debug_info: object) -> None:
    if not isinstance(debug_info, dict):
        return
    differences = cast("dict[str, Any]", debug_info).get("sample_differences")
    if not isinstance(differences, dict) or not differences:
        return
    shown = list(cast("dict[str, Any]", differences).items())[:SHOWN_MISMATCHES]
    rows = [(index, *(_element(value.get(name)) for name in ("expected", "actual", "diff"))) for index, value in shown]
    results.print(table_of(("index", "expected", "actual", "difference"), rows))


def _print_failed_tests(entries: object) -> None:
    """Prints the tests that failed, and how many were not run; those that passed are only counted."""
    tests = cast("list[dict[str, Any]]", entries or [])
    for entry in tests:
        if entry.get("status") == "FAILED":
            results.print(f"test {entry.get('test_id')} failed: {entry.get('name')}", markup=False)
    if not_run := sum(entry.get("status") == "NOT_RUN" for entry in tests):
        results.print(f"{counted(not_run, 'test')} not run")


def _element(value: object) -> object:
    """A value of the output; JSON has no NaN and no infinities, so the gateway writes null for them."""
    return "NaN or inf" if value is None else value


def _print_benchmarks(result: Result) -> None:
    entries = cast("Any", result.data.get("benchmark_results") or result.data.get("test_results") or [])
    rows = [
        (
            entry.get("name"),
            *(_measured(entry) if is_measured(entry) else (None,) * 4),
            trust_of(entry),
        )
        for entry in cast("list[dict[str, Any]]", entries)
        if "runtime_ms" in entry
    ]
    if not rows:
        return
    results.print(table_of(("test", "median", "arithmetic", "traffic", "95 % interval", "trust"), rows))
    for note in origin_notes(result):
        results.print(note)


def _measured(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        format_milliseconds(entry.get("runtime_ms")),
        format_number(entry.get("gflops"), "GFLOP/s"),
        format_number(entry.get("gbytes_per_second"), "GB/s"),
        _interval(entry),
    )


def _print_profile(profile: object) -> None:
    """Prints the kernels; columns that no kernel has a figure for are left out."""
    if not isinstance(profile, dict):
        return
    known = cast("dict[str, Any]", profile)
    results.print(profile_title(known), markup=False)
    rows = profile_rows(known)
    shown = [at for at in range(len(PROFILE_COLUMNS)) if any(row[at] is not None for row in rows)]
    if rows:
        results.print(table_of([PROFILE_COLUMNS[at] for at in shown], [[row[at] for at in shown] for row in rows]))
    if known.get("kernels_left_out"):
        results.print(f"and {counted(known['kernels_left_out'], 'more kernel')}", markup=False)


def origin_notes(result: Result) -> list[str]:
    """Notes on the origin of times, as markup: a reader must know it before comparing them."""
    data = result.data
    device = str(data.get("device_title") or data.get("device") or "")
    notes = ["[bold]simulated times: they do not describe any hardware[/bold]"] if data.get("simulated") else []
    if data.get("timing_mode") in TIMED_HOW:
        notes.append(f"[dim]{data['timing_mode']} times: {TIMED_HOW[data['timing_mode']]}[/dim]")
    if data.get("device") == "cpu":
        notes.append(f"[dim]measured on the host processor ({escape(device)}); never ranked beside GPU times[/dim]")
    return notes


def trust_of(entry: dict[str, Any]) -> str:
    """A short warning that a reader must see before believing a time."""
    return ", ".join(filter(None, (timing_text(entry), not_converged(entry))))


def _interval(entry: dict[str, Any]) -> str:
    interval, median = entry.get("ci"), entry.get("runtime_ms")
    if not isinstance(interval, dict) or not isinstance(median, int | float) or not median > 0:
        return ""
    bounds = cast("dict[str, Any]", interval)
    low, high = bounds.get("low_ms"), bounds.get("high_ms")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return ""
    return plus_minus((high - low) / 2 / median)
