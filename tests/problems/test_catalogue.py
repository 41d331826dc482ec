from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from problems.kit.definition import SizeSet
from problems.kit.rounding import EXACT
from problems.library.catalogue import BrokenProblemError, Catalogue, UnknownProblemError, load_problem
from problems.library.text_lint import constants_of
from tests.tiers import rotating

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED: dict[str, Any] = json.loads(Path(__file__).with_name("published_facts.json").read_text("utf-8"))


def test_a_written_problem_loads_with_its_texts(write_problem: Callable[..., Path]) -> None:
    folder = write_problem()
    entry = Catalogue.load(folder.parent).get("twice")
    assert entry.problem.title == "Twice"
    assert entry.statement.startswith("# Twice")
    assert entry.starter != entry.solution
    assert entry.folder == str(folder)


@pytest.mark.parametrize("missing", ["problem", "statement", "starter", "solution"])
def test_a_missing_file_is_named(write_problem: Callable[..., Path], missing: str) -> None:
    with pytest.raises(BrokenProblemError, match=rf"twice: {missing}\.\w+ missing; a problem has"):
        load_problem(write_problem(**{missing: None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": "1 +"}, "problem.py fails to load: SyntaxError"),
        ({"problem": "import no_such_module"}, "problem.py fails to load: ModuleNotFoundError: .*no_such_module"),
        ({"problem": ""}, "defines no PROBLEM; set it to an instance"),
        ({"problem": "PROBLEM = 3"}, "defines no PROBLEM; set it to an instance"),
        ({"slug": "thrice"}, "PROBLEM.slug is `twice`; it must be the folder's name"),
        ({"slug": "Twice"}, "is no slug; use lower-case words"),
        ({"starter": "void solution() {}"}, r"starter.hip has `solution\(nothing\)`"),
        ({"solution": 'extern "C" void solution(float* output) {}'}, r"solution.hip has `solution\(float\* output\)`"),
        ({"solution": 'extern "C" void solution(float) {}'}, "bad signature: `float` is not a parameter"),
    ],
)
def test_a_broken_folder_is_explained(
    write_problem: Callable[..., Path], changes: dict[str, str], message: str
) -> None:
    with pytest.raises(BrokenProblemError, match=message):
        Catalogue.load(write_problem(**changes).parent)


def test_an_output_that_the_signature_lacks_is_explained(write_problem: Callable[..., Path]) -> None:
    problem = load_problem(write_problem()).folder
    source = Path(problem, "problem.py")
    source.write_text(
        source.read_text("utf-8").replace('slug = "twice"', 'slug = "twice"\n    outputs = {"out": "zero"}')
    )
    with pytest.raises(BrokenProblemError, match="bad signature: `out` is not a parameter"):
        load_problem(Path(problem))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ("{'input': 'n, m'}", "bad shapes: `twice`: say the shape of `output` in `arrays`, or define `output_shapes`"),
        ("{'output': 'n, m'}", "bad shapes: `twice`: say the shape of `input` in `arrays`, or define `input_shapes`"),
        ("{'input': 'n, k', 'output': 'n, m'}", "bad shapes: `k` is not an integer parameter"),
        ("{'input': 'n, (', 'output': 'n, m'}", r"bad shapes: `n, \(` is not a list of expressions"),
    ],
)
def test_shapes_that_are_missing_or_cannot_be_read_are_explained(
    write_problem: Callable[..., Path], arrays: str, message: str
) -> None:
    folder = write_problem()
    source = folder / "problem.py"
    source.write_text(source.read_text("utf-8").replace('slug = "twice"', f'slug = "twice"\n    arrays = {arrays}'))
    with pytest.raises(BrokenProblemError, match=message):
        load_problem(folder)


@pytest.mark.parametrize(
    ("slug", "nearest"),
    [("leaky-rely", "leaky-relu"), ("sofmax", "softmax"), ("matmull", "matrix-multiplication")],
)
def test_an_unknown_problem_names_the_nearest(catalogue: Catalogue, slug: str, nearest: str) -> None:
    with pytest.raises(UnknownProblemError) as caught:
        catalogue.get(slug)
    assert caught.value.nearest[0] == nearest
    assert f"no problem is called `{slug}`; did you mean {nearest}" in str(caught.value)


def test_an_unknown_problem_like_no_other_points_to_the_list(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownProblemError, match="no problem is called `zzz`; `wavepool problems` lists them all"):
        catalogue.get("zzz")


def test_entries_come_by_slug(catalogue: Catalogue) -> None:
    assert [entry.problem.slug for entry in catalogue.entries()] == sorted(PUBLISHED)


@pytest.mark.parametrize("slug", rotating(sorted(PUBLISHED)))
def test_names_and_signatures_are_the_published_ones(catalogue: Catalogue, slug: str) -> None:
    problem, published = catalogue.get(slug).problem, PUBLISHED[slug]
    assert [parameter.declaration for parameter in problem.parameters] == published["signature"]
    assert problem.difficulty == published["difficulty"]
    assert len(problem.sizes.gpu) == published["tests"]


@pytest.mark.parametrize("slug", rotating(sorted(PUBLISHED)))
def test_the_published_sizes_are_among_the_gpu_sizes(catalogue: Catalogue, slug: str) -> None:
    names = [case.name for case in catalogue.get(slug).problem.sizes.gpu]
    for size in PUBLISHED[slug]["sizes"]:
        plain = size.split(", dist=")[0]
        assert any(name.startswith(f"{plain}, ") for name in names), (plain, names)


@pytest.mark.parametrize("slug", rotating(slug for slug, facts in sorted(PUBLISHED.items()) if "constants" in facts))
def test_the_published_constants_are_in_the_reference_or_an_alternative(catalogue: Catalogue, slug: str) -> None:
    # The linter compares alternatives with the tolerance.
    assert set(PUBLISHED[slug]["constants"]) <= constants_of(catalogue.get(slug).problem)


@pytest.mark.parametrize("slug", ["argmax", "histogram"])
def test_exact_problems_have_no_tolerance(catalogue: Catalogue, slug: str) -> None:
    assert PUBLISHED[slug]["exact"]
    assert catalogue.get(slug).problem.tolerance == EXACT


def test_statements_say_once_that_sizes_need_not_be_multiples_wherever_they_are_not(catalogue: Catalogue) -> None:
    counts = {entry.problem.slug: entry.statement.count("multiples of anything") for entry in catalogue.entries()}
    assert {slug for slug, count in counts.items() if count != 1} == {"array-sort"}
    assert "a power of two" in catalogue.get("array-sort").statement


@pytest.mark.parametrize("slug", rotating(sorted(set(PUBLISHED) - {"array-sort"})))
def test_every_run_has_cases_of_odd_sizes(catalogue: Catalogue, slug: str) -> None:
    problem = catalogue.get(slug).problem
    sizes = {parameter.name for parameter in problem.parameters if parameter.valid_on_host or not parameter.pointer}
    for size_set in SizeSet:
        hidden = [problem.hidden_case(size_set, np.random.default_rng(seed)) for seed in range(100, 104)]
        values = [case.values.get(name, 0) for case in (*problem.sizes.of(size_set), *hidden) for name in sizes]
        assert any(size > 16 and size % 2 == 1 for value in values for size in np.atleast_1d(value)), size_set


def test_loading_needs_no_heavy_library() -> None:
    program = (
        "import sys; from problems.library.catalogue import Catalogue; Catalogue.load()\n"
        "print([name for name in ('scipy', 'grpc', 'sqlalchemy', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
