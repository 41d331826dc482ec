"""Kernels that do not do the work, made for any problem from its signature and its honest solution.

A problem that lets one of them pass is a bad problem. All of them are in one source, which acts on each call as a table
says. So one compile and one runner serve all of them, in all of the problem's element types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np

from problems.kit.definition import Case, Problem
from problems.kit.element_types import ELEMENT_TYPES
from problems.kit.signature import Parameter
from problems.library.variants import variant_of
from vocabulary.limits import DEFAULT_DTYPE

_PRELUDE = Path(__file__).with_name("lazy_kernels.hpp")


class Lazy(IntEnum):
    """The ways of being lazy. PREPARE is an honest call; PREVIOUS_ANSWER then gives its answer again."""

    ZERO = 0
    CONSTANT = 1
    INPUT_COPY = 2
    MEAN = 3
    NOTHING_WRITTEN = 4
    MOST_OF_THE_WORK = 5
    WRONG_LAST_TILE = 6
    LOW_PRECISION = 7
    PREPARE = 8
    PREVIOUS_ANSWER = 9


@dataclass(frozen=True)
class LazyCall:
    """One entry of the table: a way of being lazy, on a case of the problem in one of its element types."""

    lazy: Lazy
    problem: Problem
    case: Case
    case_index: int


def lazy_calls(problem: Problem, dtypes: Sequence[str], hidden: Case) -> list[LazyCall]:
    """Returns the table: each way on each public case, and the honest one on a hidden case too.

    In element types other than the default, only the honest solution and lower precision are tried, as only they
    differ.
    """
    calls: list[LazyCall] = []
    for variant in (variant_of(problem, dtype) for dtype in dtypes):
        ways = [Lazy.PREPARE]
        if variant.dtype == DEFAULT_DTYPE:
            ways = [way for way in Lazy if way is not Lazy.LOW_PRECISION]
        if _float_outputs(variant):
            ways.append(Lazy.LOW_PRECISION)
        cases = list(enumerate(problem.sizes.cpu))
        calls += [LazyCall(way, variant, case, index) for index, case in cases for way in ways]
        calls.append(LazyCall(Lazy.PREPARE, variant, hidden, len(cases)))
    return calls


def lazy_source(problem: Problem, honest: Mapping[str, str], calls: Sequence[LazyCall]) -> str:
    """Returns the HIP source that acts as `calls` say, in that order; `honest` has the solutions by element type."""
    parts = [_honest_in(dtype, source) for dtype, source in honest.items()]
    headers = "\n".join(sorted({line for source in honest.values() for line in _INCLUDE.findall(source)}))
    variants = [variant_of(problem, dtype) for dtype in honest]
    outputs = [parameter for parameter in problem.parameters if parameter.output]
    # Nobody is lazy on the hidden case: without its counts, one source, and so one build, serves all draws of it.
    counts = {call.case_index: _counts(problem, call.case) for call in calls if call.lazy is Lazy.ZERO}
    uncounted = f"0, {{{', '.join('0' for _ in outputs)}}}"
    rows = ",\n  ".join(
        f"{{{list(honest).index(call.problem.dtype)}, {int(call.lazy)}, {counts.get(call.case_index, uncounted)}}}"
        for call in calls
    )
    dispatch = "".join(
        f"    case {at}: wavepool_act_{one.dtype}::act_on({', '.join(['call', *_arguments(one)])}); break;\n"
        for at, one in enumerate(variants)
    )
    return (
        f"{headers}\n{_TYPE_NAMES}{''.join(parts)}{_PRELUDE.read_text('utf-8')}\n"
        f"struct Call {{ int variant; int lazy; size_t input; size_t outputs[{len(outputs)}]; }};\n"
        f"static const Call table[] = {{\n  {rows}\n}};\nstatic size_t next_call = 0;\n}}\n\n"
        f"{''.join(_act_on(one) for one in variants)}"
        f'extern "C" void solution({", ".join(_untyped(parameter) for parameter in problem.parameters)}) {{\n'
        "  const wavepool_lazy::Call& call = wavepool_lazy::table[wavepool_lazy::next_call++];\n"
        f"  switch (call.variant) {{\n{dispatch}  }}\n  (void)hipDeviceSynchronize();\n}}\n"
    )


def _float_outputs(problem: Problem) -> list[Parameter]:
    """Returns the outputs of the problem's element type, which can be given in a lower precision."""
    element = ELEMENT_TYPES[problem.dtype]
    outputs = () if problem.narrow_outputs else problem.parameters
    return [p for p in outputs if p.output and p.dtype == element.dtype]


def _honest_in(dtype: str, source: str) -> str:
    body = _INCLUDE.sub("", source)
    return f"#define solution wavepool_honest_{dtype}\nnamespace wavepool_in_{dtype} {{\n{body}\n}}\n#undef solution\n"


def _counts(problem: Problem, case: Case) -> str:
    """Returns the numbers of elements of the first input and of the outputs, as C++ initializers."""
    shapes = problem.output_shapes(case)
    written = ", ".join(str(math.prod(shapes[parameter.name])) for parameter in problem.parameters if parameter.output)
    inputs = problem.inputs(case, np.random.default_rng(0))
    return f"{np.size(inputs[_first_input(problem).name])}, {{{written}}}"


def _first_input(problem: Problem) -> Parameter:
    return next(parameter for parameter in problem.parameters if parameter.pointer and not parameter.output)


def _untyped(parameter: Parameter) -> str:
    if not parameter.pointer:
        return parameter.declaration
    return f"{'const ' if parameter.const else ''}void* {parameter.name}"


def _arguments(problem: Problem) -> list[str]:
    """Returns the arguments of a call, with pointers as the honest solution in that element type wants them."""
    return [
        f"static_cast<{'const ' if p.const else ''}{p.ctype}*>({p.name})" if p.pointer else p.name
        for p in problem.parameters
    ]


def _act_on(problem: Problem) -> str:
    """Returns the C++ function that acts on a call in one element type."""
    outputs = [parameter for parameter in problem.parameters if parameter.output]
    declared = ", ".join(["const Call& call", *(parameter.declaration for parameter in problem.parameters)])
    honest = f"wavepool_in_{problem.dtype}::wavepool_honest_{problem.dtype}"
    names = ", ".join(parameter.name for parameter in problem.parameters)
    lower = _float_outputs(problem)
    narrow = "".join(
        f"  if (call.lazy == 7) lower_precision<{_WORDS[problem.dtype]}>({output.name}, call.outputs[{at}]);\n"
        for at, output in enumerate(outputs)
        if output in lower
    )
    ways = [_way(output, at, _first_input(problem)) for at, output in enumerate(outputs)]
    saves = [f"  {_tail(output, at)}\n" for at, output in enumerate(outputs)]
    if problem.dtype != DEFAULT_DTYPE:
        ways, saves = [], []
    return (
        f"namespace wavepool_act_{problem.dtype} {{\nusing namespace wavepool_lazy;\n"
        f"static void act_on({declared}) {{\n{''.join(saves)}"
        f"  if (call.lazy >= 5 && call.lazy <= 8) {honest}({names});\n{narrow}{''.join(ways)}}}\n}}\n\n"
    )


def _tail(output: Parameter, at: int) -> str:
    n = f"call.outputs[{at}]"
    return f"Tail<{output.ctype}> tail{at}({output.name}, {n}, unwritten(call.lazy, {n}));"


def _way(output: Parameter, at: int, source: Parameter) -> str:
    n = f"call.outputs[{at}]"
    return (
        f"  static {output.ctype}* previous{at} = nullptr;\n"
        f"  act(call.lazy, {output.name}, {n}, {source.name}, call.input, tail{at}, previous{at});\n"
    )


# Type names that signatures of the catalogue use and no header of HIP defines.
_TYPE_NAMES = "typedef unsigned char float8;\ntypedef _Float16 float16;\n"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*$", re.MULTILINE)
# The words that hold an element, and how many of its low bits are rounded away: to bfloat16, to 7 bits, to 3 bits.
_WORDS = {"float32": "unsigned, 16", "float16": "unsigned short, 3", "bfloat16": "unsigned short, 4"}
