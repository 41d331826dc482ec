"""The catalogue: every problem folder, loaded and checked for form."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from problems.kit.definition import CatalogueEntry, Problem, SizeSet
from problems.kit.element_types import ELEMENT_TYPES, is_floating
from problems.kit.integer_expression import ExpressionError
from problems.kit.signature import SignatureError, parse_signature
from problems.library.aliases import nearest_slugs, resolved_slug
from problems.library.variants import section_on_variants, variant_of
from vocabulary.limits import DEFAULT_DTYPE

FILES = ("problem.py", "statement.md", "starter.hip", "solution.hip")
"""Files of every problem folder."""

ON_SIZES = (
    "Sizes need not be multiples of anything, unless it is said above: odd ones are among the cases. So check every "
    "index against the sizes, and load vectors of 8 or 16 bytes (`float2`, `float4`) only from addresses that are "
    "multiples of as many."
)
"""Text in every statement of a problem with odd sizes."""
FOLDER = Path(__file__).parents[1] / "catalogue"
"""Folder whose subfolders are the problems."""
_HIDDEN_SEEDS = range(4)
_SHORTEST_SIZE = 17
"""Strides, sides of windows and numbers of dimensions are smaller."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEFINITION = re.compile(r'extern\s+"C"\s+void\s+solution\s*\(([^)]*)\)')


class CatalogueError(Exception):
    """The catalogue is broken, or cannot answer a question."""


class BrokenProblemError(CatalogueError):
    """A folder is not a problem; the message names the folder, the fault and the fix."""

    def __init__(self, folder: Path, fault: str) -> None:
        super().__init__(f"{folder}: {fault}")


class UnknownProblemError(CatalogueError):
    """No problem has this slug; `nearest` has slugs that look like it."""

    def __init__(self, slug: str, nearest: tuple[str, ...]) -> None:
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else "; `wavepool problems` lists them all"
        super().__init__(f"no problem is called `{slug}`{hint}")
        self.slug = slug
        self.nearest = nearest


@dataclass(frozen=True)
class Catalogue:
    """Problems by slug."""

    problems: Mapping[str, CatalogueEntry]

    @classmethod
    def load(cls, folder: Path | None = None) -> Catalogue:
        """Loads every problem folder under `folder`, by default those of `problems/catalogue`.

        Raises BrokenProblemError for the first folder that is not a problem.
        """
        root = FOLDER if folder is None else folder
        folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] not in "._")
        return cls({path.name: load_problem(path) for path in folders})

    def get(self, slug: str) -> CatalogueEntry:
        """The problem with this slug or alias; raises UnknownProblemError, which names the nearest slugs."""
        known = resolved_slug(slug, self.problems)
        if known is None:
            raise UnknownProblemError(slug, tuple(nearest_slugs(slug, self.problems)))
        return self.problems[known]

    def entries(self) -> tuple[CatalogueEntry, ...]:
        """All problems, by slug."""
        return tuple(self.problems[slug] for slug in sorted(self.problems))


def load_problem(folder: Path) -> CatalogueEntry:
    """Loads one problem folder; raises BrokenProblemError."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise BrokenProblemError(folder, f"{', '.join(missing)} missing; a problem has {', '.join(FILES)}")
    problem = _problem(folder)
    statement, starter, solution = ((folder / name).read_text("utf-8") for name in FILES[1:])
    _check_slug(folder, problem)
    _check_dtypes(folder, problem)
    overrides = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.*.hip"))}
    entry = CatalogueEntry(problem, statement, starter, solution, str(folder), overrides)
    for dtype in problem.dtypes:
        _check_signatures(folder, entry, dtype)
    _check_shapes(folder, problem)
    return replace(entry, statement=_with_sizes(statement, problem) + section_on_variants(problem))


def has_odd_sizes(problem: Problem, size_set: SizeSet, statement: str) -> bool:
    """True if a public or hidden case has an odd size, among the long sizes that the statement does not call odd."""
    names = {p.name for p in problem.parameters if p.valid_on_host or not (p.pointer or is_floating(p.dtype))}
    names -= {name for name in names if re.search(rf"^- `{name}`: .*\bodd\b", statement, re.MULTILINE)}
    hidden = (problem.hidden_case(size_set, np.random.default_rng(seed)) for seed in _HIDDEN_SEEDS)
    cases = chain(problem.sizes.of(size_set), hidden)
    values = (case[name] for case in cases for name in names & set(case.values))
    return any(int(size) % 2 and size >= _SHORTEST_SIZE for value in values for size in np.atleast_1d(value))


def _with_sizes(statement: str, problem: Problem) -> str:
    """The statement with the text on sizes, if it applies on every device."""
    if not all(has_odd_sizes(problem, size_set, statement) for size_set in SizeSet):
        return statement
    return statement.replace("\n## Tolerance", f"\n{ON_SIZES}\n\n## Tolerance", 1)


def _problem(folder: Path) -> Problem:
    path = folder / "problem.py"
    spec = importlib.util.spec_from_file_location(f"wavepool_problem_{folder.name.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise BrokenProblemError(folder, "problem.py is not a Python module")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BrokenProblemError(folder, f"problem.py fails to load: {type(error).__name__}: {error}") from error
    problem = getattr(module, "PROBLEM", None)
    if not isinstance(problem, Problem):
        raise BrokenProblemError(folder, "problem.py defines no PROBLEM; set it to an instance of your Problem class")
    return problem


def _check_slug(folder: Path, problem: Problem) -> None:
    if _SLUG.fullmatch(folder.name) is None:
        raise BrokenProblemError(folder, "the folder's name is no slug; use lower-case words joined by hyphens")
    if problem.slug != folder.name:
        raise BrokenProblemError(folder, f"PROBLEM.slug is `{problem.slug}`; it must be the folder's name")


def _check_dtypes(folder: Path, problem: Problem) -> None:
    unknown = [dtype for dtype in problem.dtypes if dtype not in ELEMENT_TYPES]
    if unknown or problem.dtypes[:1] != (DEFAULT_DTYPE,):
        known = ", ".join(ELEMENT_TYPES)
        raise BrokenProblemError(
            folder, f"dtypes is {problem.dtypes}; begin with {DEFAULT_DTYPE}, and choose from {known}"
        )


def _check_shapes(folder: Path, problem: Problem) -> None:
    try:
        for case in problem.sizes.cpu:
            problem.output_shapes(case)
            problem.bytes(case)
    except (ExpressionError, NotImplementedError) as error:
        raise BrokenProblemError(folder, f"bad shapes: {error}") from error


def _check_signatures(folder: Path, entry: CatalogueEntry, dtype: str) -> None:
    try:
        problem = variant_of(entry.problem, dtype)
        declared = ", ".join(parameter.declaration for parameter in problem.parameters)
        for name, source in (("starter", entry.starter_in(dtype)), ("solution", entry.solution_in(dtype))):
            found = _solution_signature(source, problem)
            if found != declared:
                file = f"{name}.hip" if dtype == DEFAULT_DTYPE else f"{name}.hip in {dtype}"
                raise BrokenProblemError(folder, f"{file} has `solution({found})`, the problem `solution({declared})`")
    except SignatureError as error:
        raise BrokenProblemError(folder, f"bad signature: {error}") from error


def _solution_signature(source: str, problem: Problem) -> str:
    match = _DEFINITION.search(source)
    if match is None:
        return "nothing"
    parameters = parse_signature(match[1], problem.outputs, problem.host_readable)
    return ", ".join(parameter.declaration for parameter in parameters)
