from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.integer_expression import LARGEST, MAX_CHARACTERS, ExpressionError, Shape, parse

SHAPE = Shape({"n": 1000, "dim": 1, "zero": 0}, {"input": 24}, {"shape": (2, 3, 4)})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        (7, 7),
        ("-n + +1", -999),
        ("2 * (n - 1) % 7", 3),
        ("n / 3", 333),
        ("-n // 3", -334),
        ("ceil_div(n, 256)", 4),
        ("ceil_div(1024, 256)", 4),
        ("min(n, 3, 5) + max(zero, -2)", 3),
        ("n > 999", 1),
        ("n != 1000", 0),
        ("64 if n < 64 else 256", 256),
        ("shape[dim]", 3),
        ("shape[shape[0] - dim]", 3),
        ("product(shape, 0, dim) * product(shape, dim + 1, 3)", 8),
        ("product(shape, 1, 1)", 1),
        ("elements(input)", 24),
    ],
)
def test_expressions_have_the_values_of_arithmetic(text: str | int, value: int) -> None:
    assert parse(text).value(SHAPE) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n +",
        "n ** 2",
        "n << 3",
        "1.5",
        "'text'",
        "True",
        "n and 1",
        "not n",
        "1 < n < 2",
        "print(n)",
        "__import__('os')",
        "n.bit_length()",
        "shape[0:1]",
        "shape[0, 1]",
        "lambda: 1",
        "[1][0]",
        "min(n)",
        "ceil_div(n)",
        "elements(1)",
        "max(n, key=n)",
        "(n := 3)",
        "(" * 300,
        "-" * 200 + "n",
        "not " + "-" * 480 + "n",
        "1" * (MAX_CHARACTERS + 1),
        "9" * 30,
    ],
)
def test_whatever_else_python_could_say_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text).value(SHAPE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m + 1", "`m` is not an integer parameter"),
        ("n / zero", "`n / zero` divides by zero"),
        ("1 + (n <<\n 3)", "`n << 3` is not taken"),
        ("n % zero", "divides by zero"),
        ("ceil_div(n, zero)", "divides by zero"),
        (f"{LARGEST} * n - {LARGEST} * n", "64 bits"),
        ("shape[3]", "has 3 elements"),
        ("shape[-1]", "has 3 elements"),
        ("input[0]", "not known here"),
        ("elements(n)", "not an array"),
        ("product(shape, 2, 1)", "has 3 elements"),
    ],
)
def test_an_expression_without_a_value_says_why(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said.replace("(", r"\(")):
        parse(text).value(SHAPE)


def test_an_expression_names_its_parameters_and_no_functions() -> None:
    assert parse("ceil_div(n, 4) + shape[dim] + elements(input)").names == {"n", "shape", "dim", "input"}


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_ceil_div_is_the_least_number_of_blocks_that_covers(total: int, block: int) -> None:
    blocks = parse(f"ceil_div({total}, {block})").value(Shape({}))
    assert (blocks - 1) * block < total <= blocks * block


@given(st.text(max_size=60) | st.text("n+-*/%() 0123456789,<>=", max_size=40))
def test_any_text_has_a_value_within_64_bits_or_is_refused(text: str) -> None:
    try:
        value = parse(text).value(SHAPE)
    except ExpressionError:
        return
    assert abs(value) <= LARGEST
