from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from services.executor.devices.gfx942.polynomial import Polynomial

NAMES = ("x", "y", "u:n")
values = st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES})
polynomials = st.dictionaries(
    st.lists(st.sampled_from(NAMES), max_size=2).map(lambda names: tuple(sorted(names))), st.integers(-9, 9), max_size=4
).map(Polynomial)


def _at(polynomial: Polynomial, place: dict[str, int]) -> int:
    total = 0
    for product, factor in polynomial.terms.items():
        for name in product:
            factor *= place[name]  # noqa: PLW2901  the product grows
        total += factor
    return total


@given(polynomials, polynomials, values)
def test_sums_and_products_have_the_value_of_their_parts(
    left: Polynomial, right: Polynomial, place: dict[str, int]
) -> None:
    total, product = left.plus(right), left.times(right)
    assert total is not None
    assert product is not None
    assert _at(total, place) == _at(left, place) + _at(right, place)
    assert _at(product, place) == _at(left, place) * _at(right, place)


@given(polynomials, values, st.integers(-5, 5))
def test_a_coefficient_is_what_one_step_adds(polynomial: Polynomial, place: dict[str, int], factor: int) -> None:
    coefficient = polynomial.scaled(factor).coefficient("x")
    assume(coefficient is not None)
    assert coefficient is not None
    step = _at(polynomial, {**place, "x": place["x"] + 1}) - _at(polynomial, place)
    assert _at(coefficient, place) == factor * step


def test_a_square_has_no_coefficient() -> None:
    x = Polynomial.unknown("x")
    assert (square := x.times(x)) is not None
    assert square.coefficient("x") is None


def test_what_nobody_could_read_is_given_up() -> None:
    power = Polynomial.unknown("x")
    for _ in range(3):
        grown = power.times(Polynomial.unknown("x"))
        assert grown is not None
        power = grown
    assert power.times(Polynomial.unknown("x")) is None
