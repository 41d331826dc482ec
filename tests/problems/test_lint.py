from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from problems.families.elementwise import Elementwise, matrix_case
from problems.kit.definition import Case, CatalogueEntry, Difficulty, Initial, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY, Domain
from problems.kit.rounding import EXACT
from problems.library.case_lint import lint_cases
from problems.library.catalogue import ON_SIZES, Catalogue, load_problem
from problems.library.lint import lint, main
from tests.problems.conftest import SOURCE, STATEMENT
from tests.tiers import rotating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

SLUGS = tuple(Catalogue.load().problems)


class Twice(Elementwise):
    """A good problem; each class below spoils one thing about it."""

    slug = "twice"
    title = "Twice"
    difficulty = Difficulty.EASY
    tolerance = EXACT
    flops_per_element = 1.0
    sizes = Sizes(
        cpu=(matrix_case(41, 53, Distribution.NORMAL), matrix_case(3, 701, Distribution.WIDE)),
        gpu=(matrix_case(4096, 4096, Distribution.NORMAL),),
    )

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return 2.0 * x


class TooTolerant(Twice):
    tolerance = Tolerance(1e5, "As it was felt to be.")


class Vanishing(Twice):
    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return 0.0 * x


class OwnRandomness(Twice):
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return super().inputs(case, np.random.default_rng())


class Bounded(Twice):
    domains: ClassVar[Mapping[str, Domain]] = {"input": Domain(-0.5, 0.5)}


class BoundedLength(Twice):
    domains: ClassVar[Mapping[str, Domain]] = {"n": ANY}


class NoRandomness(Twice):
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return super().inputs(case, np.random.default_rng(1))


class DoublePrecisionInputs(Twice):
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        inputs = super().inputs(case, rng)
        return {**inputs, "input": inputs["input"].astype(np.float64)}


class InfiniteInputs(Twice):
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        inputs = super().inputs(case, rng)
        inputs["input"] = np.array(inputs["input"])
        inputs["input"][0, 0] = np.inf
        return inputs


class MissingInput(Twice):
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        inputs = super().inputs(case, rng)
        del inputs["m"]
        return inputs

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": 2.0 * inputs["input"].astype(np.float64)}


class WrongShape(Twice):
    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": 2.0 * inputs["input"].astype(np.float64).T}


class Unattainable(Twice):
    tolerance = Tolerance(1e-3, "Stricter than fp32.")

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return x / 3.0


class FreeOfCharge(Twice):
    def flops(self, case: Case) -> float:
        return 0.0


class TooMuchTraffic(Twice):
    def bytes(self, case: Case) -> float:
        return 2.0 * super().bytes(case)


class Endless(Twice):
    time_limit_seconds = 1e-6


class OneHiddenCase(Twice):
    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return self.sizes.cpu[0]


class SameNames(Twice):
    sizes = Sizes(cpu=(Twice.sizes.cpu[0], Twice.sizes.cpu[0]), gpu=Twice.sizes.gpu)


class NoGpuCases(Twice):
    sizes = Sizes(cpu=Twice.sizes.cpu, gpu=())


class ReadsAndWritesInput(Twice):
    signature = "float* input, float* output, size_t n, size_t m"


class Unruled(Twice):
    tolerance = Tolerance(0.0, " ")


class RoundedConstant(Twice):
    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        return {"2.0001": {"output": 2.0001 * inputs["input"].astype(np.float64)}}


class AllowedConstant(RoundedConstant):
    tolerance = Tolerance(1000.0, "2.0001 passes.", one_sided=True)


def entry_of(problem: Elementwise) -> CatalogueEntry:
    return CatalogueEntry(problem, STATEMENT, SOURCE, f"// done\n{SOURCE}", "here")


@pytest.mark.parametrize("slug", rotating(SLUGS))
def test_every_problem_of_the_catalogue_is_clean(catalogue: Catalogue, slug: str) -> None:
    assert [str(finding) for finding in lint(catalogue.get(slug))] == []


def test_a_good_problem_has_no_findings() -> None:
    assert lint(entry_of(Twice())) == []


@pytest.mark.parametrize(
    ("problem", "check", "message"),
    [
        (TooTolerant(), "lazy kernel", "low precision (bfloat16): passes"),
        (Vanishing(), "lazy kernel", "zero: passes"),
        (Bounded(), "domains", "leaves its domain -0.5..0.5"),
        (BoundedLength(), "domains", "no array of floats"),
        (OwnRandomness(), "inputs", "the same seed gives other inputs"),
        (NoRandomness(), "inputs", "another seed gives the same inputs"),
        (DoublePrecisionInputs(), "inputs", "`input` is not finite const float* input"),
        (InfiniteInputs(), "inputs", "`input` is not finite const float* input"),
        (MissingInput(), "inputs", "has ['input', 'n'], the signature ['input', 'm', 'n']"),
        (Unattainable(), "tolerance", "rounded to the output's type, is not within the tolerance"),
        (FreeOfCharge(), "cost", "0.0 flops"),
        (TooMuchTraffic(), "cost", "written and at most"),
        (Endless(), "cost", "raise time_limit_seconds"),
        (OneHiddenCase(), "hidden cases", "the same case from every seed"),
        (SameNames(), "cases", "two cpu cases have the same name"),
        (NoGpuCases(), "cases", "no gpu cases"),
        (ReadsAndWritesInput(), "signature", "`input` is neither const nor an output"),
        (Unruled(), "tolerance", "no rule"),
        (RoundedConstant(), "alternatives", "2.0001: `output` is "),
    ],
)
def test_each_fault_is_found(problem: Elementwise, check: str, message: str) -> None:
    assert any(f.check == check and message in f.message for f in lint(entry_of(problem))), lint(entry_of(problem))


def test_a_reference_of_another_shape_is_found() -> None:
    assert any("not output_shapes'" in finding.message for finding in lint(entry_of(WrongShape())))


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("# Twice\n", "lacks the title as its heading"),
        ("size_t m);", "lacks the signature"),
        ("- `m`: columns\n", "does not say what `m` is"),
        ("`output` holds random bits before every call", "does not say what an output starts with"),
        ("## Tolerance", "lacks a section on the tolerance"),
        ("## Example", "lacks an example"),
    ],
)
def test_each_gap_of_a_statement_is_found(gone: str, message: str) -> None:
    assert gone in STATEMENT
    findings = lint(replace(entry_of(Twice()), statement=STATEMENT.replace(gone, "")))
    assert any(finding.check == "statement" and message in finding.message for finding in findings)


def test_a_constant_that_no_formula_has_is_found() -> None:
    entry = replace(entry_of(Twice()), statement=STATEMENT.replace("numbers", "numbers times 1.99999 or 0.5"))
    assert [finding.message for finding in lint(entry)] == [
        "names 1.99999, which no formula has: give all digits, or an alternative with that constant"
    ]


def test_a_rounded_constant_that_the_tolerance_allows_is_no_fault() -> None:
    entry = replace(entry_of(AllowedConstant()), statement=STATEMENT.replace("numbers", "numbers times 2.0001"))
    assert not {finding.check for finding in lint(entry)} & {"alternatives", "constants"}


class EvenSizes(Twice):
    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return matrix_case(2 * int(rng.integers(10, 90)), 64, Distribution.NORMAL)


def test_a_problem_without_odd_sizes_says_what_its_sizes_are() -> None:
    entry = entry_of(EvenSizes())
    assert [finding.check for finding in lint(replace(entry, statement=STATEMENT.replace(ON_SIZES, "")))] == ["sizes"]
    said = STATEMENT.replace(ON_SIZES, "").replace("- `n`: rows", "- `n`: rows, a multiple of 2")
    assert lint(replace(entry, statement=said)) == []


def test_an_output_that_starts_at_zero_must_be_said_to() -> None:
    class Accumulating(Twice):
        outputs = {"output": Initial.ZERO}  # noqa: RUF012 - as a problem writes it

    assert [finding.message for finding in lint(entry_of(Accumulating()))] == [
        "does not say what an output starts with: `output` holds zeros before every call"
    ]


def test_a_slow_reference_is_found() -> None:
    assert [finding.check for finding in lint_cases(Twice(), max_reference_seconds=0.0)] == ["speed"]


def test_a_starter_that_gives_the_solution_away_is_found() -> None:
    assert lint(replace(entry_of(Twice()), starter=SOURCE, solution=SOURCE))[0].check == "source"


def test_overlong_source_lines_are_found() -> None:
    findings = lint(replace(entry_of(Twice()), solution=f"{SOURCE}// {'x' * 130}\n"))
    assert [finding.message for finding in findings] == ["solution.hip: lines [2] have more than 120 characters"]


def test_the_command_names_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relu", "gelu"]) == 0
    reported = capsys.readouterr()
    assert reported.out == "2 problems, 0 findings\n"
    assert reported.err == "looking at relu (1 of 2)\nlooking at gelu (2 of 2)\n"
    assert main(["rely"]) == 2
    assert "did you mean relu" in capsys.readouterr().err


def test_the_command_fails_on_a_finding(
    write_problem: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = load_problem(write_problem(statement=STATEMENT.replace("## Example", "")))
    monkeypatch.setattr(Catalogue, "load", lambda: Catalogue({"twice": entry}))
    assert main([]) == 1
    assert capsys.readouterr().out == "twice: statement: lacks an example: `## Example`\n1 problems, 1 findings\n"
