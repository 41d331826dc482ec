"""The HIP source of a Python file is found by its syntax tree; what cannot be followed is refused with its line."""

from __future__ import annotations

import pytest

from services.executor.core.compile.python_source import (
    Data,
    Extent,
    New,
    NotLiftedError,
    Number,
    is_python,
    lifted,
    uses_triton,
)

HEAD = "from torch.utils.cpp_extension import load_inline\nimport torch\n"
KERNEL = "__global__ void k(float* p) { p[0] = 1; }"
MODULE = f'm = load_inline(name="m", cpp_sources=[""], cuda_sources=["{KERNEL}"], functions=["f"])\n'


def arguments_of(body: str) -> object:
    return lifted(
        f"{HEAD}{MODULE}def custom_kernel(data):\n" + "".join(f"    {line}\n" for line in body.split("; "))
    ).arguments


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("a, b, c = data; m.f(a, b, c); return c", [Data(0), Data(1), Data(2)]),
        ("a, b = data; return m.f(b.contiguous(), a)", [Data(1, is_packed=True), Data(0)]),
        ("return m.f(data)", [Data(0)]),
        ("return m.f(*data)", None),
        ("return m.f(data[1], data[0])", [Data(1), Data(0)]),
        ("a, b = data; c = torch.empty_like(a); m.f(a, b, c); return c", [Data(0), Data(1), New(0)]),
        ("a, b = data; n, k = a.shape; m.f(a, n, k, 128)", [Data(0), Extent(0, 0), Extent(0, 1), Number(128)]),
        (
            "a, b = data; m.f(a, b.size(1), b.shape[0], a.numel())",
            [Data(0), Extent(1, 1), Extent(1, 0), Extent(0, None)],
        ),
    ],
)
def test_arguments_are_parts_of_the_data_and_what_comes_from_them(body: str, arguments: object) -> None:
    assert arguments_of(body) == arguments


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("a, b = data; m.f(a + b)", "line 6: `a + b` is computed by Python"),
        ("return data", "no function of `m` is called"),
        ("m.f(data, n=4)", "line 5: `n=` is passed by name: pass it by its place"),
        ("m.f(**data)", "line 5: `**` is passed by name"),
        ("m.f(data); m.g(data)", "line 6: `m` is called 2 times (`f`, `g`)"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_line(body: str, complaint: str) -> None:
    with pytest.raises(NotLiftedError) as refused:
        arguments_of(body)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        f'"{KERNEL}"',
        f'"#define N 4\\n" + "{KERNEL}"',
        f'f"constexpr int N = {{N}};" "{KERNEL}"',
        f'[HEADER, """\n{KERNEL}\n""".strip()]',
        f'textwrap.dedent("""\n    {KERNEL}\n""")',
    ],
)
def test_a_source_may_be_put_together_from_strings(text: str) -> None:
    source = f"{HEAD}N = 4\nHEADER = '#include <cstdint>'\nS = {text}\nm = load_inline('m', '', S, ['f'])\nm.f(1)\n"
    assert KERNEL in lifted(source).source


def test_lines_of_the_source_are_those_of_the_file() -> None:
    source = f'{HEAD}S = """\n// here\n{KERNEL}"""\nm = load_inline("m", "", S, ["f"])\nm.f(1)\n'
    before, _, _ = lifted(source).source.partition("// here")
    assert '#line 3 "solution.hip"\n\n' in before, "the text begins in line 3, and goes on in line 4"


def test_a_string_that_code_makes_is_refused_with_its_line() -> None:
    with pytest.raises(NotLiftedError, match="line 3: this string is made by code"):
        lifted(f'{HEAD}S = open("k.hip").read()\nm = load_inline("m", "", S, ["f"])\nm.f(1)\n')
    with pytest.raises(NotLiftedError, match="too many parts"):
        lifted(f'{HEAD}S = S + "a"\nm = load_inline("m", "", S, ["f"])\nm.f(1)\n')


@pytest.mark.parametrize("twice", ["S{0} = S{1} + S{1}", "S{0} = [S{1}, S{1}]"])
def test_a_few_lines_that_stand_for_a_text_without_end_are_refused(twice: str) -> None:
    doubled = "\n".join(twice.format(at, at - 1) for at in range(1, 40))
    with pytest.raises(NotLiftedError, match="too long together"):
        lifted(f'{HEAD}S0 = "__global__"\n{doubled}\nm = load_inline("m", "", S39, ["f"])\nm.f(1)\n')


def test_numbers_that_c_has_no_type_for_are_refused() -> None:
    # 5,000 digits are more than Python writes down.
    huge = "0x" + "f" * 5000
    with pytest.raises(NotLiftedError, match="this string is made by code"):
        lifted(f'{HEAD}S = f"{{{huge}}}"\nm = load_inline("m", "", S, ["f"])\nm.f(1)\n')
    with pytest.raises(NotLiftedError, match="line "):
        lifted(
            f'{HEAD}m = load_inline("m", "", "__global__", ["f"])\ndef custom_kernel(data):\n    return m.f({huge})\n'
        )


def test_a_file_that_would_take_seconds_to_read_is_no_python() -> None:
    assert is_python("import torch\n" + "x = [1, 2]\n" * 1000)
    assert not is_python("import torch\n" + "x = [1, 2]\n" * 20_000)


def test_python_is_told_from_hip() -> None:
    assert is_python("#!POPCORN leaderboard x\nimport torch\n")
    assert not is_python('#include <hip/hip_runtime.h>\nextern "C" void solution(float* x) {}\n')
    assert not is_python("#include <a>\n// import torch\n")
    assert uses_triton("import triton\nimport triton.language as tl\n")
    assert not uses_triton("import torch\n")


@pytest.mark.parametrize("text", ["-" * 100_000 + "1", "a" + ".b" * 100_000, "(" * 100_000, "1" + "+1" * 100_000])
def test_a_source_that_no_parser_can_take_is_no_python(text: str) -> None:
    assert not is_python(f"import torch\nx = {text}\n")
