"""The warm-up of the fork server: the first steps of every judge, done once before any judge is forked.

A forked process has everything that its parent has imported, compiled and looked up. Without the warm-up each judge
would do that again, while somebody waits for the first call of a kernel. Nothing is run here, and only our own files
are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from problems.kit.definition import CatalogueEntry, Problem
from services.executor.core.call.layout import plan_bytes
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.check.run_verdict import Progress
from services.executor.core.check.sampling import smallest
from services.executor.core.compile.build import Unit
from services.executor.core.compile.code_objects import code_objects
from services.executor.core.compile.forbidden import check_build, needed_libraries, rules_for
from services.executor.core.compile.object_symbols import object_symbols
from services.executor.core.compile.source import admit
from services.executor.core.launching.contract import unit_of
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import framed, message_of
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.context import RunContext
from submissions.modes import Mode

_SOME_PROGRAM = Path("/bin/true")


def warm_up(entries: Iterable[CatalogueEntry], context: RunContext) -> None:
    """Go through a run of the catalogue's cheapest solution, without the steps that need a sandbox or a device."""
    for entry in sorted(entries, key=_work_flops)[:1]:
        problem = entry.problem
        job = CoreJob.from_bytes(CoreJob(entry.solution, Mode.CHECK, problem.slug).to_bytes())
        unit = unit_of(job.source, problem)
        with suppress(Failure):
            context.builder.find(unit, context.scratch_parent)
        with suppress(Failure):
            _examine(unit, problem, context)
        _judge(problem)
        framed(message_of(Progress(job, lambda _: None).finished(None)).SerializeToString())


def _work_flops(entry: CatalogueEntry) -> float:
    problem = entry.problem
    return problem.flops(smallest(problem, problem.sizes.cpu))


def _examine(unit: Unit, problem: Problem, context: RunContext) -> None:
    held = rules_for(context.forbidden, problem.forbidden)
    admit(unit.source, unit.declaration, held)
    with suppress(OSError):
        program = _SOME_PROGRAM.read_bytes()
        code_objects(program, has_image=False)
        check_build(needed_libraries(program), object_symbols(program), held)


def _judge(problem: Problem) -> None:
    judge = CaseJudge(problem, smallest(problem, problem.sizes.cpu), RunSeed(""), case_index=0)
    trial = judge.draw(1)
    plan_bytes(trial.layout, trial.inputs, trial.rules)
    judge.fault(trial, judge.expected(trial))
