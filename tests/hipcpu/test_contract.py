from __future__ import annotations

import pytest

from hipcpu.build_folder import BuildKind
from hipcpu.modules.contract import contract_violation, line_of
from hipcpu.modules.host_module import HostModule, host_module_from_text
from services.executor.core.compile.compiler_text import compile_error

_DECLARATION = 'extern "C" void solution(float* x)'


def _host(*symbols: str) -> HostModule:
    return host_module_from_text("".join(f"define void @{symbol}() {{\n  ret void\n}}\n" for symbol in symbols))


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        (("soluton",), "`soluton` has nearly that name"),
        (("_Z9soluttionPf",), "`soluttion` has nearly that name"),
        (("helper",), 'define `extern "C" void solution(...)`'),
        (("_Z8solutionPf",), "is not extern"),
    ],
)
def test_a_solution_that_is_not_there_is_reported_with_what_is(symbols: tuple[str, ...], said: str) -> None:
    violation = contract_violation(_host(*symbols), BuildKind.SOLUTION)
    assert violation is not None
    assert said in violation


def test_a_solution_that_is_there_is_no_violation() -> None:
    assert contract_violation(_host("solution"), BuildKind.SOLUTION) is None


def test_a_violation_is_at_the_line_that_it_is_about() -> None:
    source = "#include <a>\n\nvoid solution (float*) {}\nint main() {}\n"
    assert line_of("`solution` is not extern", source) == 3
    assert line_of("a program needs a `main` function", source) == 4
    assert line_of("no function `solution` is defined", "int soluton();") is None


def test_the_author_reads_the_whole_declaration() -> None:
    text = 'solution.hip: error: no function `solution` is defined: define `extern "C" void solution(...)`\n'
    message = compile_error(text, _DECLARATION).message
    assert message.startswith("The source cannot be built: no function `solution` is defined")
    assert _DECLARATION in message


def test_a_device_s_advice_stands_beside_the_compiler_s_words() -> None:
    text = "solution.hip:3:9: error: unknown type name 'texture'\na.h:1:1: note: x\nnote: texture: read memory"
    said = "rejected line 3: unknown type name 'texture'. texture: read memory. Details have the whole text."
    assert said in compile_error(text, _DECLARATION).message
    assert "Correct it; details" in compile_error(text.partition("note:")[0], _DECLARATION).message
