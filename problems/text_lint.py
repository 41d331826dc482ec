"""What the linter reads: signature, statement and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from problems.findings import Finding
from problems.signature import Initial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from problems.definition import CatalogueEntry, Problem

_MAX_LINE = 120
_INITIAL_WORDS = {Initial.POISON: "random bits", Initial.ZERO: "zeros"}


def lint_texts(entry: CatalogueEntry) -> Iterator[Finding]:
    """Findings about a problem's texts."""
    problem = entry.problem
    yield from _signature(problem)
    yield from _statement(entry)
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
