"""The part of the linter that reads texts: signature, statement and sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import FunctionType

import numpy as np

from problems.kit.definition import CatalogueEntry, Problem
from problems.kit.signature import Initial
from problems.library.catalogue import ON_SIZES
from problems.library.findings import Finding

_MAX_LINE = 120
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\d)")
_RESTRICTED = re.compile(r"^- `\w+`: .*\b(?:multiple|power) of", re.MULTILINE)
_INITIAL_WORDS = {Initial.POISON: "random bits", Initial.ZERO: "zeros"}


def lint_texts(entry: CatalogueEntry) -> Iterator[Finding]:
    """Findings about a problem's texts."""
    problem = entry.problem
    yield from _signature(problem)
    yield from _statement(entry)
    yield from _constants(entry)
    if ON_SIZES not in entry.statement and not _RESTRICTED.search(entry.statement):
        message = "no case has an odd size on every device; add one, or say what the sizes are multiples of"
        yield Finding(problem.slug, "sizes", message)
    if not problem.tolerance.rule.strip():
        yield Finding(problem.slug, "tolerance", "no rule; say in one sentence where its units come from")
    for name, source in (("starter.hip", entry.starter), ("solution.hip", entry.solution)):
        long = [number for number, line in enumerate(source.splitlines(), 1) if len(line) > _MAX_LINE]
        if long:
            yield Finding(problem.slug, "source", f"{name}: lines {long} have more than {_MAX_LINE} characters")
    if entry.starter.strip() == entry.solution.strip():
        yield Finding(problem.slug, "source", "starter.hip is the solution; leave the work to the reader")


def _signature(problem: Problem) -> Iterator[Finding]:
    if not problem.outputs:
        yield Finding(problem.slug, "signature", "no outputs; name the parameters that `solution` writes")
    for parameter in problem.parameters:
        if parameter.pointer and not parameter.const and not parameter.output:
            yield Finding(problem.slug, "signature", f"`{parameter.name}` is neither const nor an output; make it one")


def _constants(entry: CatalogueEntry) -> Iterator[Finding]:
    """Findings about constants in a statement that neither the reference nor an alternative has: they are rounded."""
    known = constants_of(entry.problem)
    definition = _CODE.sub("", entry.statement.partition("## Tolerance")[0])
    for text in dict.fromkeys(_CONSTANT.findall(definition)):
        # A constant that a float holds exactly is not rounded.
        if float(np.float32(text)) != float(text) and float(text) not in known:
            message = f"names {text}, which no formula has: give all digits, or an alternative with that constant"
            yield Finding(entry.problem.slug, "constants", message)


def constants_of(problem: Problem) -> frozenset[float]:
    """The numbers in the sources of a problem: of its classes, and of the modules that their functions use."""
    methods = [value for kind in type(problem).__mro__ for value in vars(kind).values()]
    functions = [value for value in methods if isinstance(value, FunctionType)]
    used = [value for function in functions for value in function.__globals__.values()]
    functions += [
        value for value in used if isinstance(value, FunctionType) and value.__module__.startswith("problems.")
    ]
    files = {function.__code__.co_filename for function in functions}
    return frozenset(chain.from_iterable(map(_numbers_in, files)))


@cache
def _numbers_in(file: str) -> frozenset[float]:
    nodes = ast.walk(ast.parse(Path(file).read_text("utf-8")))
    return frozenset(
        float(node.value) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    )


def _statement(entry: CatalogueEntry) -> Iterator[Finding]:
    problem, statement = entry.problem, entry.statement
    wanted = {
        f"# {problem.title}\n": "the title as its heading",
        f"void solution({problem.signature});": "the signature as in problem.py",
        "## Tolerance": "a section on the tolerance",
        "## Example": "an example",
    }
    for text, what in wanted.items():
        if text not in statement:
            yield Finding(problem.slug, "statement", f"lacks {what}: `{text.strip()}`")
    for parameter in problem.parameters:
        if f"- `{parameter.name}`: " not in statement:
            yield Finding(
                problem.slug, "statement", f"does not say what `{parameter.name}` is: `- `{parameter.name}`: …`"
            )
    for name, initial in problem.outputs.items():
        if f"`{name}` holds {_INITIAL_WORDS[initial]} before every call" not in statement:
            words = f"`{name}` holds {_INITIAL_WORDS[initial]} before every call"
            yield Finding(problem.slug, "statement", f"does not say what an output starts with: {words}")
