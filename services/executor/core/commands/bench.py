"""`bench`: one file, one problem, live stages and a table on the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import singledispatch
from typing import TextIO

from services.executor.core.commands.bench_table import table_of, trust_of
from services.executor.core.commands.isa_command import hint_text
from services.executor.core.model import events
from services.executor.core.model.isa_report import IsaReport, KernelReport
from services.executor.core.model.job import CoreJob
from services.executor.core.model.plain import plain
from services.executor.core.model.report import canonical_json
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import JobError, run
from services.executor.core.timing.benchmark_result import BenchmarkResult
from services.executor.devices.profiling import ProfileClock

_NAME_WIDTH = 48
ACCEPTED, NOT_ACCEPTED, BAD_USAGE, INFRASTRUCTURE = 0, 1, 2, 3
SAMPLE_ONLY = 7
"""The same as the `wavepool` command's."""
_STATUSES = {
    Verdict.ACCEPTED: ACCEPTED,
    Verdict.SAMPLE_ONLY: SAMPLE_ONLY,
    Verdict.INFRA_ERROR: INFRASTRUCTURE,
}


async def bench(
    job: CoreJob, context: RunContext, *, as_json: bool, also: Callable[[events.Event], None] = lambda _: None
) -> int:
    """Runs `job` and returns the exit status; `also` gets every event that is printed.

    With `as_json` stdout has the last event alone; stages go to stderr.
    """
    screen = sys.stderr if as_json else sys.stdout
    sandbox = context.sandbox
    _say(screen, f"sandbox: {sandbox.name}" + "".join(f"\n  does not hold back: {gap}" for gap in sandbox.gaps))

    def emit(event: events.Event) -> None:
        _say(screen, line_of(event))
        also(event)

    try:
        finished = await run(job, context, emit)
    except JobError as error:
        _say(sys.stderr, str(error))
        return BAD_USAGE
    except asyncio.CancelledError:
        _say(screen, "cancelled")
        return NOT_ACCEPTED
    if as_json:
        _say(sys.stdout, canonical_json(plain(finished)))
    return _STATUSES.get(finished.verdict, NOT_ACCEPTED)


@singledispatch
def line_of(event: object) -> str:
    """Returns an event as text for people."""
    return type(event).__name__


@line_of.register
def _(_event: events.ReadingProblem) -> str:
    return "reading the problem definition and choosing its test cases"


@line_of.register
def _(event: events.Compiling) -> str:
    return f"compiling with {event.toolchain}" + (" (cached)" if event.cached else "")


@line_of.register
def _(event: events.Compiled) -> str:
    warnings = f"\n{event.warnings}" if event.warnings else ""
    return "\n".join([f"compiled in {event.duration_ms:.0f} ms{warnings}", *_isa_lines(event.isa)])


@line_of.register
def _(event: events.Checking) -> str:
    return f"checking {event.total_tests} cases"


@line_of.register
def _(event: events.TestResult) -> str:
    return f"  {event.test_id}/{event.total_tests} {'PASSED' if event.passed else 'FAILED'}  {event.name}"


@line_of.register
def _(event: events.Checked) -> str:
    return f"checked: {event.passed_tests} of {event.total_tests} are right"


@line_of.register
def _(event: events.Benchmarking) -> str:
    return f"benchmarking {event.total_tests} cases"


@line_of.register
def _(event: events.BenchmarkProgress) -> str:
    place = f"case {event.test_id} of {event.total_tests}, session {event.session} of {event.sessions}"
    return f"  {event.stage.lower()} {place}, {event.samples} samples so far"


@line_of.register
def _(event: BenchmarkResult) -> str:
    return f"  {event.test_id}/{event.total_tests} {event.runtime_ns / 1e6:.6f} ms, {trust_of(event)}  {event.name}"


@line_of.register
def _(event: events.Benchmarked) -> str:
    return table_of(event)


@line_of.register
def _(event: events.Profiling) -> str:
    return f"profiling case {event.name} with {event.tool}"


@line_of.register
def _(event: events.ProgramOutput) -> str:
    return event.line if event.stream == "stdout" else f"[stderr] {event.line}"


@line_of.register
def _(event: events.Finished) -> str:
    parts = [f"{event.verdict}{f' ({event.reason})' if event.reason else ''}: {event.message}", event.details]
    parts += [_mismatches(event.wrong_answer)] if event.wrong_answer else []
    parts += [f"[stderr of the submission]\n{event.stderr}"] if event.stderr and event.program is None else []
    parts += [profile_text(event.profile)] if event.profile else []
    return "\n".join(part.rstrip() for part in parts if part)


def profile_text(profile: events.Profile) -> str:
    """Returns a table with a row for each kernel, or the reason why there is none."""
    if not profile.kernels:
        return f"profile: {profile.note}"
    clock = "the host's clock, not GPU times" if profile.clock is ProfileClock.HOST else "the GPU's clock"
    tool = f"{profile.tool} {profile.tool_version}".rstrip()
    head = f"kernels of {profile.solution_calls} calls of {profile.name}, by {tool}"
    columns = f"{'kernel':<{_NAME_WIDTH}} {'calls':>6} {'mean us':>12} {'min us':>12} {'max us':>12} {'share':>7}"
    rows = [
        f"{one.name[:_NAME_WIDTH]:<{_NAME_WIDTH}} {one.calls:>6} {one.mean_ns / 1e3:>12.3f} {one.min_ns / 1e3:>12.3f} "
        f"{one.max_ns / 1e3:>12.3f} {one.share:>6.1%}"
        for one in profile.kernels
    ]
    more = [f"and {profile.kernels_left_out} more"] if profile.kernels_left_out else []
    return "\n".join([f"{head} ({clock})", columns, *rows, *more])


def _isa_lines(report: IsaReport) -> list[str]:
    """Returns the MI300X's figures, if there are any. `wavepool doctor` reports a machine without its compiler."""
    hints = [hint_text(hint) for kernel in report.kernels.values() for hint in kernel.hints]
    return [*(f"  MI300X {name}: {_figures(kernel)}" for name, kernel in report.kernels.items()), *hints]


def _figures(kernel: KernelReport) -> str:
    registers = f"{kernel.vgpr} VGPR, {kernel.sgpr} SGPR, {kernel.lds_bytes} B LDS, {kernel.scratch_bytes} B scratch"
    return f"{registers}, {kernel.occupancy} of 8 wavefronts"


def _mismatches(wrong: events.WrongAnswer) -> str:
    rows = [
        f"  {item.output}{list(item.index)}: expected {item.expected:.9g}, got {item.actual:.9g}"
        for item in wrong.first_mismatches
    ]
    return "\n".join(
        [*rows, f"  max difference {wrong.max_difference:.6g}, mean difference {wrong.mean_difference:.6g}"]
    )


def _say(screen: TextIO, text: str) -> None:
    print(text, file=screen, flush=True)
