"""Makes HIP source with a `solution` of what people submit elsewhere: KernelBot's Python files, LeetGPU's `solve`."""

from __future__ import annotations

from problems.kit.definition import Problem
from services.executor.core.compile.declared_parameters import with_solution
from services.executor.core.compile.harness import expected_declaration
from services.executor.core.compile.python_calls import NotLiftedError
from services.executor.core.compile.python_source import Lifted, is_python, lifted, uses_triton
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.lifted_problem import with_tensors

_TRITON = "Triton's kernels are Python too: write the kernel in HIP C++"
_MODULE = (
    "Send HIP C++, or a Python file whose `custom_kernel` only calls functions of its load_inline module, and passes "
    "the tensors of its data"
)


def as_hip(source: str, problem: Problem | None, *, has_plan: bool) -> tuple[str, Problem | None, str]:
    """The HIP source, the problem that it is for, and a note if it is not what was sent; raises Failure."""
    if is_python(source):
        return _of_python(source, problem, has_plan=has_plan)
    if problem is not None and not has_plan and (made := with_solution(source, problem.parameters)):
        return made, problem, "`solve` is called as LeetGPU calls it, with the problem's parameters."
    return source, problem, ""


def _lifted(source: str, problem: Problem | None) -> tuple[Lifted, Problem, str]:
    if problem is None:
        raise NotLiftedError("only a `solution` without a launch plan can be taken from a Python file")
    found = lifted(source)
    return found, *with_tensors(problem, found)


def _of_python(source: str, problem: Problem | None, *, has_plan: bool) -> tuple[str, Problem, str]:
    try:
        found, widened, hip = _lifted(source, None if has_plan else problem)
    except NotLiftedError as error:
        fix = _TRITON if uses_triton(source) else _MODULE
        wanted = f", that defines `{expected_declaration(problem.parameters)}`" if problem else ""
        text = f"This is Python, and none of it is run here: {error}. {fix}{wanted if fix == _TRITON else ''}."
        raise Failure(Verdict.COMPILE_ERROR, text, reason="python") from error
    names = ", ".join(dict.fromkeys(f"`{one.function}`" for one in found.made.calls))
    verb = "is" if len({one.function for one in found.made.calls}) == 1 else "are"
    note = f"This is Python, and none of it is run: its HIP source is compiled, and {names} {verb} called."
    return hip, widened, note
