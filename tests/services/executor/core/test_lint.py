from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from problems.catalogue import Catalogue
from problems.definition import CatalogueEntry, Tolerance
from services.executor.core.lazy_kernels import Lazy
from services.executor.core.lint import faults_of, lazy_passes, lint
from tests.services.executor.core.mixed_problem import MIXED_SOLUTION, MixedProblem

if TYPE_CHECKING:
    from services.executor.core.run import Equipment

SLUGS = sorted(Catalogue.load().problems)


class LaxProblem(MixedProblem):
    """Anything goes."""

    tolerance = Tolerance(1e12, "none")


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
async def test_the_honest_solution_is_accepted_and_every_lazy_kernel_is_found_out(
    slug: str, equipment: Equipment
) -> None:
    assert await faults_of(Catalogue.load().get(slug), equipment) == []


async def test_a_lax_problem_is_found_out(equipment: Equipment) -> None:
    passed = await lazy_passes(LaxProblem(), MIXED_SOLUTION, equipment)
    assert {Lazy.ZERO, Lazy.MEAN, Lazy.LOW_PRECISION, Lazy.PREVIOUS_ANSWER} <= set(passed)
    assert Lazy.NOTHING_WRITTEN not in passed, "poison holds NaN and infinities, which no tolerance lets pass"


async def test_a_dishonest_solution_is_a_fault(equipment: Equipment) -> None:
    entry = Catalogue.load().get("relu")
    broken = entry.solution.replace("0.0f", "0.5f")
    assert broken != entry.solution
    faults = await faults_of(CatalogueEntry(entry.problem, "", "", broken, ""), equipment)
    assert "WRONG_ANSWER" in faults[0]


async def test_an_unknown_slug_is_bad_usage(equipment: Equipment, capsys: pytest.CaptureFixture[str]) -> None:
    assert await lint(["relo"], equipment) == 2
    assert "did you mean relu" in capsys.readouterr().err
