from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.compile.forbidden import rules, rules_for
from services.executor.core.compile.source import admit, code_of, source_fault
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from vocabulary.limits import MAX_SOURCE_BYTES

DECLARATION = 'extern "C" void solution(float* y)'
GOOD = f"__global__ void k(float* y) {{}}\n{DECLARATION} {{ k<<<1, 1>>>(y); }}\n"


@given(st.text())
def test_any_text_has_an_answer(source: str) -> None:
    fault = source_fault(source, DECLARATION)
    assert fault is None or fault.endswith(".")


def test_an_honest_source_has_no_fault() -> None:
    assert source_fault(GOOD, DECLARATION) is None


@pytest.mark.parametrize(
    ("source", "verdict"),
    [("", Verdict.COMPILE_ERROR), (f"#include <hipblas/hipblas.h>\n{GOOD}", Verdict.FORBIDDEN_LIBRARY)],
)
def test_a_source_is_refused_for_a_fault_and_for_a_rule(source: str, verdict: Verdict) -> None:
    held = rules_for(rules(), ())
    admit(GOOD, DECLARATION, held)
    with pytest.raises(Failure) as caught:
        admit(source, DECLARATION, held)
    assert caught.value.verdict is verdict


@pytest.mark.parametrize("source", ["", " \n", "// nothing\n/* at all */"])
def test_an_empty_source_gets_what_to_define(source: str) -> None:
    assert DECLARATION in (source_fault(source, DECLARATION) or "")
    assert "main" in (source_fault(source, "") or "")


def test_too_much_source_is_refused_with_both_sizes() -> None:
    fault = source_fault(GOOD + " " * MAX_SOURCE_BYTES, DECLARATION) or ""
    assert "1,048,576" in fault


@pytest.mark.parametrize(
    "kernel",
    [
        'extern "C" __global__ void solution(float* y) {}',
        "__global__ void\n__launch_bounds__(256)\nsolution (float* y) {}",
        "template <typename T> __global__ void solution(T* y) {}",
    ],
)
def test_a_kernel_named_solution_gets_a_hint(kernel: str) -> None:
    assert "give the kernel another name" in (source_fault(kernel, DECLARATION) or "")


@pytest.mark.parametrize(
    "text",
    [
        "// __global__ void solution(float*)\n",
        "/* __global__ void solution(float*) */",
        'const char* s = "__global__ void solution(";',
        'const char* r = R"x(__global__ void solution()x";',
        "__global__ void solution_kernel(float* y) {}",
        "__global__ void k() {}\nvoid my() {} ",
    ],
)
def test_the_word_alone_is_no_kernel(text: str) -> None:
    assert source_fault(text + GOOD, DECLARATION) is None


@pytest.mark.parametrize(
    "line", ['#include "/dev/zero"', "#include </etc/shadow>", '  #  include "/x"', '#embed "/etc/shadow"']
)
def test_absolute_includes_are_refused(line: str) -> None:
    assert "absolute path" in (source_fault(f"{GOOD}\n{line}\n", DECLARATION) or "")
    assert source_fault(f"{GOOD}\n// {line}\n", DECLARATION) is None


def test_code_is_what_is_left_without_comments_and_literals() -> None:
    assert code_of('a /* b */ c // d\n\'e\' "f\\"g" h').split() == ["a", "c", "h"]
