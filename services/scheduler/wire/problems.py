"""Converts problems to protos."""

from __future__ import annotations

from typing import Any, cast

from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

from problems.kit.definition import Case, CatalogueEntry, Problem, SizeSet
from problems.kit.work import work_of
from problems.library.variants import variant_of
from services.scheduler.jobs.hardware import CPU
from vocabulary.roofline import Roofs, has_peak, roof_of, roofs_of_type

_NS_PER_SECOND = 1e9


def summary_to_proto(problem: Problem) -> scheduler_pb2.ProblemSummary:
    """A problem without its texts."""
    return scheduler_pb2.ProblemSummary(
        slug=problem.slug,
        title=problem.title,
        difficulty=problem.difficulty,
        tags=problem.tags,
        dtypes=problem.dtypes,
        signature=problem.signature,
    )


def problem_to_proto(entry: CatalogueEntry, dtype: str, hardware: str) -> scheduler_pb2.GetProblemResponse:
    """A problem with its texts in an element type, and its cases on a GPU type or the cpu device.

    Raises UnknownElementTypeError.
    """
    problem = variant_of(entry.problem, dtype)
    sizes = problem.sizes.of(SizeSet.CPU if hardware == CPU else SizeSet.GPU)
    roofs = roofs_of_type(hardware)
    return scheduler_pb2.GetProblemResponse(
        problem=summary_to_proto(problem),
        statement=entry.statement,
        starter=entry.starter_in(dtype),
        parameters=[
            scheduler_pb2.ProblemParameter(
                name=parameter.name,
                type=parameter.ctype,
                const=parameter.const,
                pointer=parameter.pointer,
                meaning=entry.meanings.get(parameter.name, ""),
            )
            for parameter in problem.parameters
        ],
        gpu_type=hardware,
        cases=[_case_to_proto(problem, case, dtype, roofs) for case in sizes],
    )


def _case_to_proto(problem: Problem, case: Case, dtype: str, roofs: Roofs | None) -> scheduler_pb2.ProblemCase:
    work = work_of(problem, case, dtype)
    numbers = [(name, _text(value)) for name, value in case.values.items()]
    message = scheduler_pb2.ProblemCase(
        name=case.name,
        sizes=[scheduler_pb2.CaseSize(name=name, value=value) for name, value in numbers if value],
        bytes=work.read_bytes + work.written_bytes,
        flops=work.flops,
    )
    # The rate of another type would be a guess.
    if roofs and has_peak(roofs, dtype):
        bound, seconds = roof_of(roofs, work)
        message.least_ns = seconds * _NS_PER_SECOND
        message.bound = run_event_pb2.Bound.Value(f"BOUND_{bound.name}")
    return message


def _text(value: Any) -> str:  # noqa: ANN401 - sizes, scalars and whatever else a problem needs
    """A number, or numbers with commas between them; empty if it is something else, which the case's name has."""
    numbers = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    return ", ".join(map(str, numbers)) if all(isinstance(one, int | float) for one in numbers) else ""
