from __future__ import annotations

from dataclasses import replace

import pytest

from problems.kit.definition import CatalogueEntry, Tolerance
from problems.library.catalogue import Catalogue
from services.executor.core.commands.lint import faults_of, lazy_passes, lint
from services.executor.core.run.context import RunContext
from tests.services.executor.core.mixed_problem import MIXED_SOLUTION, MixedProblem
from tests.tiers import rotating

SLUGS = sorted(Catalogue.load().problems)
IN_ALL_TYPES = {
    "relu",
    "gelu",
    "elu",
    "softmax",
    "sum-dim",
    "max-dim",
    "layer-norm",
    "l2-norm",
    "huber-loss",
    "gemm-relu",
}


class LaxProblem(MixedProblem):
    """Accepts any answer."""

    tolerance = Tolerance(1e12, "none")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load()


# All problems are checked by one code; `make soak` has them all, and so has the lint that an edited problem must pass.
@pytest.mark.slow
@pytest.mark.parametrize("slug", rotating(SLUGS))
async def test_the_honest_solution_is_accepted_and_every_lazy_kernel_is_found_out(
    slug: str, catalogue: Catalogue, context: RunContext
) -> None:
    entry = catalogue.get(slug)
    assert await faults_of(entry, context, entry.problem.dtypes[:1]) == []


@pytest.mark.slow
@pytest.mark.parametrize("slug", rotating(SLUGS))
async def test_so_it_is_in_narrow_types(slug: str, catalogue: Catalogue, context: RunContext) -> None:
    # Half and bfloat16 from one source differ little: the second narrow type runs on a sample only.
    entry = catalogue.get(slug)
    dtypes = entry.problem.dtypes if slug in IN_ALL_TYPES else entry.problem.dtypes[:2]
    assert await faults_of(entry, context, dtypes) == []


async def test_a_lax_problem_is_found_out(context: RunContext) -> None:
    passed = await lazy_passes(CatalogueEntry(LaxProblem(), "", "", MIXED_SOLUTION, ""), context)
    assert {"ZERO", "MEAN", "LOW_PRECISION", "PREVIOUS_ANSWER"} <= set(passed)
    assert "NOTHING_WRITTEN" not in passed, "poison holds NaN and infinities, which no tolerance lets pass"


async def test_a_dishonest_solution_is_a_fault(context: RunContext) -> None:
    entry = Catalogue.load().get("relu")
    broken = entry.solution.replace("0.0f", "0.5f")
    assert broken != entry.solution
    faults = await faults_of(CatalogueEntry(entry.problem, "", "", broken, ""), context)
    assert "WRONG_ANSWER" in faults[0]


async def test_a_solution_that_is_wrong_in_half_only_is_a_fault(context: RunContext) -> None:
    entry = Catalogue.load().get("vector-addition")
    half = entry.solution_in("float16")
    broken = half.replace("a[i] + b[i]", "__half(static_cast<float>(a[i]) * 1.01f) + b[i]")
    assert broken != half
    faults = await faults_of(replace(entry, overrides={"solution.float16.hip": broken}), context)
    assert "WRONG_ANSWER" in faults[0]


async def test_halfs_of_low_precision_are_found_out(context: RunContext) -> None:
    # An error as large as the value itself: losing a few bits exceeds that for no half, subnormal ones included.
    class Lax(type(Catalogue.load().get("vector-addition").problem)):  # type: ignore[misc]
        tolerance = Tolerance(1 << 23, "lax in float, and so in half")

    entry = replace(Catalogue.load().get("vector-addition"), problem=Lax())
    assert "LOW_PRECISION in float16" in await lazy_passes(entry, context)


async def test_an_unknown_slug_is_bad_usage(context: RunContext, capsys: pytest.CaptureFixture[str]) -> None:
    assert await lint(["relo"], context) == 2
    assert "did you mean relu" in capsys.readouterr().err
