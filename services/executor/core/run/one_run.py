"""One run from its job to its verdict."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import asdict, replace

from hipcpu.build_folder import BuildKind, ToolchainError
from problems.kit.definition import Problem
from problems.library.variants import UnknownElementTypeError, variant_of
from services.executor.core.call.trusted_runner import require_runner
from services.executor.core.check.run_verdict import Progress
from services.executor.core.compile.build import Built, Unit
from services.executor.core.compile.declared_parameters import BLAMABLE, signature_hint
from services.executor.core.compile.forbidden import check_build, rules_for
from services.executor.core.compile.pasted_source import paste_hint, unpasted
from services.executor.core.compile.source import admit
from services.executor.core.compile.untaken_branches import untaken_branches
from services.executor.core.launching.contract import contract_of, unit_of
from services.executor.core.model.events import Event, Finished, ReadingProblem
from services.executor.core.model.events_in_order import EventsInOrder
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.as_hip import as_hip
from services.executor.core.problem_host.resolved_problem import resolved_problem
from services.executor.core.run.context import RunContext
from services.executor.core.run.playground import run_program
from services.executor.core.run.runner_stages import RunnerStages
from services.executor.core.sandbox.run_place import RunPlace
from services.executor.devices.instruments import Versioned
from services.executor.devices.selection import masked, selected
from submissions.modes import Mode

REPORT_VERSION = 1
_MAY_BE_THE_DEVICES = frozenset({Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED})
"""On a GPU, these ends of a whole program count against it only if a runner of our own works there."""


class JobError(ValueError):
    """The catalogue lacks the problem, or its element type; the message names the field and the fix."""


async def run(job: CoreJob, context: RunContext, emit: Callable[[Event], None]) -> Finished:
    """Run `job` and emit every event; the last event is also returned.

    The caller has checked the job's submission (`submissions/checks.py`). Raises JobError, before any event, if the
    catalogue does not have its problem. A cancelled task leaves no process and no file behind, and emits no last event.
    """
    context = replace(context, device=masked(selected(context.device, job.devices), *job.masked_eighths))
    problem = _problem(job, context)
    if problem is not None:
        # The job may use an alias.
        job = replace(job, problem=problem.slug)
    events = EventsInOrder(emit)
    progress = Progress(job, events)
    try:
        await _stages(job, problem, context, progress, events)
        failure = None
    except Failure as caught:
        failure = caught
    except ToolchainError as error:
        failure = InfrastructureFailure(f"The device cannot be used on this machine: {error}")
    except Exception:  # noqa: BLE001  whatever breaks in here is our fault, and still needs a verdict
        failure = InfrastructureFailure("The judge itself failed; run again elsewhere.", details=traceback.format_exc())
    finished = progress.finished(failure)
    emit(finished)
    return finished


def _problem(job: CoreJob, context: RunContext) -> Problem | None:
    if job.mode is Mode.SANDBOX or job.problem_definition:
        return None
    if not job.problem:
        raise JobError("problem: is empty; name one of the catalogue")
    try:
        problem = context.find_problem(job.problem)
    except Exception as error:
        raise JobError(f"problem: {error}") from error
    try:
        return variant_of(problem, job.dtype)
    except UnknownElementTypeError as error:
        raise JobError(f"dtype: {error}") from error


async def _stages(
    job: CoreJob, problem: Problem | None, context: RunContext, progress: Progress, events: EventsInOrder
) -> None:
    # The report is about the source that was sent.
    progress.report.update(_origin(job, context))
    source, progress.source_notes = unpasted(job.source)
    job = replace(job, source=source)
    if job.problem_definition:
        progress.tell(ReadingProblem())
    async with resolved_problem(job, problem, context, progress.report) as resolved:
        await _stages_of(job, resolved, context, progress, events)


async def _stages_of(
    job: CoreJob, problem: Problem | None, context: RunContext, progress: Progress, events: EventsInOrder
) -> None:
    source, problem, note = as_hip(job.source, problem, has_plan=bool(job.launch_plan))
    job = replace(job, source=source)
    progress.source_notes = (*progress.source_notes, *filter(None, [note]))
    unit = unit_of(job.source, problem)
    held = rules_for(context.forbidden, problem.forbidden) if problem else ()
    admit(job.source, unit.declaration if problem else "", held)
    progress.untaken = untaken_branches(job.source, context.device.describe())
    async with context.place_for(job.mode) as place, AsyncExitStack() as stack:
        reported = context.builder.reported(unit, place.compile, place.run, events, progress.compiled)
        with progress.stage("compile"):
            built = await _built(stack, reported, unit)
        build = built.build
        toolchain = context.device.toolchain()
        progress.report["toolchain"] = toolchain.identity
        progress.report["toolchain_title"] = toolchain.title
        progress.report["compile_command"] = toolchain.command
        progress.report["executable_sha256"] = build.sha256
        progress.report["code_objects"] = [asdict(one) for one in build.facts.code_objects]
        check_build(build.facts.libraries, build.facts.symbols, held)
        progress.report["needed_libraries"] = build.facts.libraries
        if problem is None:
            with progress.stage("program"):
                await _program(context, place, progress)
            return
        try:
            await RunnerStages(job, problem, context, place, built).run(progress)
        except Failure as failure:
            if unit.kind is BuildKind.SOLUTION and failure.verdict in BLAMABLE:
                failure.message = " ".join(
                    filter(None, (signature_hint(job.source, problem.parameters), failure.message))
                )
            raise


async def _built(stack: AsyncExitStack, reported: AbstractAsyncContextManager[Built], unit: Unit) -> Built:
    try:
        return await stack.enter_async_context(reported)
    except Failure as failure:
        if failure.verdict is Verdict.COMPILE_ERROR and (hint := paste_hint(unit.source, failure.details)):
            failure.message = f"{failure.message} {hint}"
        raise


async def _program(context: RunContext, place: RunPlace, progress: Progress) -> None:
    try:
        await run_program(context.device, place.sandbox, context.limits.program, place.run, progress)
    except Failure as failure:
        if context.device.describe().is_gpu and failure.verdict in _MAY_BE_THE_DEVICES and not failure.unkillable:
            await require_runner(context, context.cache)
        raise


def _origin(job: CoreJob, context: RunContext) -> dict[str, object]:
    device = context.device.describe()
    return {
        "version": REPORT_VERSION,
        # An author's own problem may have any name, and is not the catalogue's problem of that name.
        "problem": "" if job.problem_definition else job.problem,
        "mode": job.mode,
        "dtype": job.dtype,
        "contract": contract_of(job),
        "size_set": job.size_set,
        "source_sha256": _sha256(job.source),
        **({"launch_plan_sha256": _sha256(job.launch_plan)} if job.launch_plan else {}),
        "device": {"name": device.name, "title": device.title, "architecture": device.architecture},
        **({"simulated": True} if device.is_simulated else {}),
        **({"versions": asdict(context.device.versions())} if isinstance(context.device, Versioned) else {}),
        "sandbox": {"name": context.sandbox.name, "gaps": list(context.sandbox.gaps)},
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
