"""The HIP source of a Python file is found by its syntax tree; what cannot be followed is refused with its line."""

from __future__ import annotations

import pytest

from services.executor.core.compile.python_calls import (
    Argument,
    Calls,
    Computed,
    Data,
    Extent,
    New,
    NotLiftedError,
    Number,
    Scratch,
)
from services.executor.core.compile.python_source import is_python, lifted, uses_triton

HEAD = "from torch.utils.cpp_extension import load_inline\nimport torch\n"
KERNEL = "__global__ void k(float* p) { p[0] = 1; }"
MODULE = f'm = load_inline(name="m", cpp_sources=[""], cuda_sources=["{KERNEL}"], functions=["f"])\n'


def calls_of(body: str) -> Calls:
    return lifted(
        f"{HEAD}{MODULE}def custom_kernel(data):\n" + "".join(f"    {line}\n" for line in body.split("; "))
    ).made


def arguments_of(body: str) -> object:
    (call,) = calls_of(body).calls
    return call.arguments


def shown(argument: Argument) -> str:
    match argument:
        case Computed(parts=parts):
            return "".join(one if isinstance(one, str) else shown(one) for one in parts)
        case Data(at=at) | New(at=at) | Scratch(at=at):
            return f"{type(argument).__name__.lower()}{at}"
        case Extent(at=at, dimension=dimension):
            return f"data{at}.size({dimension})"
        case Number(value=value):
            return str(value)


def steps_of(body: str) -> list[str]:
    """Each call as C++ would write it."""
    return [
        "".join(f"if ({shown(one)}) " for one in call.conditions)
        + ("return " if call.is_returned else "")
        + f"{call.function}({', '.join(map(shown, call.arguments or []))})"
        for call in calls_of(body).calls
    ]


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
        ("a, b = data; m.f(a, b); return a + b", "line 7: `a + b` is computed by Python"),
        ("a, b = data; t = m.f(a); m.g(t, b)", "line 7: `t` is computed by Python"),
        ("a, b = data; a *= 2; m.f(a, b)", "line 7: `a` is computed by Python"),
        ("a, b = data; for i in range(2): m.f(a, b)", "line 6: calls in this statement cannot be followed"),
        ("a, b = data; b = 0 if m.f(a) else 1", "line 6: calls in this statement cannot be followed"),
        ("a, b = data; n = a.sum(); if n > 3: m.f(a, b)", "line 7: `n` is computed by Python"),
        ("a, b = data; t = torch.empty(b.sum()); m.f(a, t); return b", "line 6: `b.sum()` is computed by Python"),
        ("a = data; b = torch.rand(4); m.f(a, b)", "line 7: `b` is computed by Python"),
        ("a, b = data; if a.shape[0] > 4: b = b + 1; m.f(a, b)", "line 7: `b` is computed by Python"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_line(body: str, complaint: str) -> None:
    with pytest.raises(NotLiftedError) as refused:
        arguments_of(body)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("a, b = data; m.f(a); m.g(a, b); return b", ["f(data0)", "g(data0, data1)"]),
        (
            "a, b = data; m.f(a, b); return m.g(b.T.contiguous())",
            ["f(data0, data1)", "return g(data1.t().contiguous())"],
        ),
        ("a = data; c = m.f(a); return c", ["return f(data0)"]),
        (
            "a, b = data; t, c = torch.empty(4), torch.empty_like(b); m.f(a, t); m.g(t, c); return c",
            ["f(data0, scratch0)", "g(scratch0, new0)"],
        ),
        (
            (
                "a, b = data; n, k = a.shape; if n == 4 and k in (1, 2):; \tm.f(a, b); elif n > k * 8:; \tm.g(a, b); "
                "else:; \tm.h(a, b); return b"
            ),
            [
                "if (((data0.size(0) == 4) && ((data0.size(1) == 1) || (data0.size(1) == 2)))) f(data0, data1)",
                (
                    "if (!(((data0.size(0) == 4) && ((data0.size(1) == 1) || (data0.size(1) == 2))))) "
                    "if ((data0.size(0) > (data0.size(1) * 8))) g(data0, data1)"
                ),
                (
                    "if (!(((data0.size(0) == 4) && ((data0.size(1) == 1) || (data0.size(1) == 2))))) "
                    "if (!((data0.size(0) > (data0.size(1) * 8)))) h(data0, data1)"
                ),
            ],
        ),
        (
            "a, b = data; if (a.size(0), a.size(1)) == (4, 5):; \tm.f(a, b); \treturn b; m.g(a, b); return b",
            [
                "if (((data0.size(0) == 4) && (data0.size(1) == 5))) f(data0, data1)",
                "if (!(((data0.size(0) == 4) && (data0.size(1) == 5)))) g(data0, data1)",
            ],
        ),
        (
            "a, b = data; if not a.is_contiguous():; \ta = a.contiguous(); m.f(a, b.data_ptr(), a.shape[-1] // 2)",
            ["f(data0, reinterpret_cast<int64_t>(data1.data_ptr()), (data0.size(-1) / 2))"],
        ),
    ],
)
def test_calls_are_followed_in_their_order_with_their_conditions(body: str, steps: list[str]) -> None:
    assert steps_of(body.replace("\t", "    ")) == steps


def test_a_tensor_that_is_not_returned_is_made_once_by_its_sizes() -> None:
    made = calls_of(
        "a, b = data; n = a.shape[0]; t = torch.zeros((n * 4, 2), dtype=torch.bfloat16, device=a.device); "
        "u = torch.empty_like(a); m.f(a, t, u); m.f(a, t, b); return b"
    ).scratch
    assert list(map(shown, made)) == [
        "at::zeros({(data0.size(0) * 4), 2, }, at::kBFloat16)",
        "at::empty_like(data0)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        (
            "def made():\n    global m\n    m = load_inline('m', '', S, ['f'])\n    return m\n"
            "called = made().f\ndef custom_kernel(data):\n    return called(data)\n"
        ),
        (
            "def made():\n    return load_inline('m', '', S, ['f'])\n"
            "n = made()\ndef custom_kernel(data):\n    return n.f(data)\n"
        ),
        "def made():\n    return load_inline('m', '', S, ['f'])\ndef custom_kernel(data):\n    return made().f(data)\n",
    ],
)
def test_a_module_may_have_several_names(text: str) -> None:
    (call,) = lifted(f"{HEAD}S = '{KERNEL}'\n{text}").made.calls
    assert (call.function, call.arguments) == ("f", [Data(0)])


@pytest.mark.parametrize(
    "lines",
    [
        [f"n{at} = n{at - 1} * n{at - 1}" for at in range(1, 40)],
        [f"if a.shape[0] == {at}:\n        if n0 == {at}:\n            return b" for at in range(40)],
        ["if n0 == 1:\n        pass", *["elif n0 == 2:\n        m.f(a, b)"] * 3000],
        ["m.f(a, b)"] * 65,
    ],
)
def test_a_few_lines_that_would_make_code_without_end_are_refused(lines: list[str]) -> None:
    with pytest.raises(NotLiftedError):
        calls_of(
            "; ".join(
                ["a, b = data", "n0 = a.shape[0]", *lines, "m.f(a, b, n39)" if "n39" in lines[-1] else "m.f(a, b)"]
            )
        )


@pytest.mark.parametrize(
    "text",
    [
        f'"{KERNEL}"',
        f'"{KERNEL}@".replace("@", chr(92))',
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
