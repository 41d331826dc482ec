"""The parameters of `solution`, as found in the source's own text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.signature import Initial, parse_signature
from problems.library.catalogue import load_problem
from services.executor.core.compile.declared_parameters import signature_hint
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode

PROBLEMS = Path(__file__).parents[5] / "problems" / "catalogue"
PARAMETERS = parse_signature(
    "const float* input, float* output, size_t n, float alpha", {"output": Initial.POISON}, frozenset()
)


def hint(parameters: str) -> str:
    return signature_hint(f'extern "C" void solution({parameters}) {{ }}', PARAMETERS)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("const float* a, float* b, float alpha", "it has 3 where 4 are passed"),
        ("", "it has 0 where 4 are passed"),
        ("void", "it has 0 where 4 are passed"),
        ("float* b, const float* a, size_t n, float s", "parameter 2 is `const float* a` where `float* output`"),
        ("const float* a, float* b, float s, double n", "parameter 3 is `float s` where `size_t n`"),
        ("const float* a, float* b, size_t n, double s", "parameter 4 is `double s` where `float alpha`"),
        ("const double* a, float* b, size_t n, float s", "parameter 1 is `const double* a`"),
        ("const int* a, float* b, size_t n, float s", "parameter 1 is `const int* a`"),
        ("const float* a, float* b, size_t* n, float s", "parameter 3 is `size_t* n`"),
        ("float a, float* b, size_t n, float s", "parameter 1 is `float a`"),
    ],
)
def test_parameters_that_are_not_the_problems_are_reported_with_both_lists(parameters: str, said: str) -> None:
    reported = hint(parameters)
    assert said in reported
    assert 'extern "C" void solution(const float* input, float* output, size_t n, float alpha)' in reported
    assert f"the source has `solution({parameters if parameters != 'void' else ''})`" in reported


@pytest.mark.parametrize(
    "parameters",
    [
        "const float *x, float *y, size_t count, float a",
        "const float* __restrict__ x, float* __restrict__ y, const size_t count, const float a",
        "float* x, float* y, unsigned long n, float a",
        "const float x[], float y[16], int n, float a",
        "const float*, float*, size_t, float",
        "const void* x, T* y, index n, real a",
        "const float* x, /* out */ float* y, // of\n size_t n, float a",
        "const std::byte* x, float* y, std::size_t n, float a",
    ],
)
def test_what_is_the_same_to_the_processor_or_cannot_be_distinguished_is_let_pass(parameters: str) -> None:
    assert hint(parameters) == ""


@pytest.mark.parametrize(
    "parameters",
    [
        "const float* a, float* b, float s, size_t n",
        "float s, const float* a, float* b, size_t n",
        "const float* a, float s, T* b, int n",
    ],
)
def test_a_floating_point_number_may_stand_anywhere_among_the_rest(parameters: str) -> None:
    assert hint(parameters) == ""


@pytest.mark.parametrize(
    "parameters",
    [
        "const float* a, float s, size_t n, float* b",
        "float s, float* b, const float* a, size_t n",
        "const float* a, real s, float* b, size_t n",
    ],
)
def test_the_rest_must_keep_its_order_and_be_known(parameters: str) -> None:
    assert "are not the problem's" in hint(parameters)


def test_what_no_longer_fits_registers_must_keep_its_place() -> None:
    written = "const float* a, float* b, int c, int d, int e, int f, int g, float s"
    moved = "const float* a, float* b, float s, int c, int d, int e, int f, int g"
    wanted = parse_signature(written, {"b": Initial.POISON}, frozenset())
    assert signature_hint(f"void solution({written}) {{ }}", wanted) == ""
    assert "parameter 3 is `float s`" in signature_hint(f"void solution({moved}) {{ }}", wanted)


async def test_a_wrong_answer_is_not_blamed_on_an_order_that_makes_no_difference(context: RunContext) -> None:
    source = 'extern "C" void solution(const float* input, float* output, size_t n, size_t m, float alpha) { }'
    finished = await run(CoreJob(source, Mode.CHECK, "leaky-relu"), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER
    assert "parameters" not in finished.message


@pytest.mark.parametrize(
    "source",
    [
        "",
        "SOLUTION_HEADER { }",
        'extern "C" void solution(float* a);',
        '// void solution(float* a) { }\nextern "C" void SOLUTION',
        "#if A\nvoid solution(int a) {\n#else\nvoid solution(int b) {\n#endif\n}",
    ],
)
def test_without_one_plain_definition_nothing_is_said(source: str) -> None:
    assert signature_hint(source, PARAMETERS) == ""


@given(st.text(st.sampled_from("solution(){}[]*&,; \nconstfloatintx<>:/\"'")))
def test_any_text_at_all_is_no_harm(text: str) -> None:
    signature_hint(text, PARAMETERS)
    signature_hint(f"solution({text}) {{", PARAMETERS)


def test_no_solution_of_the_catalogue_is_found_to_differ() -> None:
    for file in PROBLEMS.glob("*/solution.hip"):
        assert signature_hint(file.read_text(), load_problem(file.parent).problem.parameters) == "", file


async def test_the_cause_of_a_wrong_answer_is_reported_before_its_elements(context: RunContext) -> None:
    source = 'extern "C" void solution(const float* d_input1, float* d_output, size_t n) { }'
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER
    assert finished.message.startswith("The parameters of `solution` are not the problem's: it has 3 where 4 are")
    assert "were never written" in finished.message
