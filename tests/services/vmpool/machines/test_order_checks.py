from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.order_checks import (
    LEGAL_GPU_COUNTS,
    check_backend,
    check_fallback_gpu_types,
    check_gpu_count,
    check_gpu_type,
    check_max_price,
)

GPU_TYPES = ("MI300X", "MI210", "MI250X", "MI300A")


def test_a_gpu_type_is_known_in_any_case() -> None:
    assert check_gpu_type(" mi300x ", GPU_TYPES) == "MI300X"


@pytest.mark.parametrize(("asked", "nearest"), [("MI300", "MI300X"), ("H100", "MI210"), ("MI-250", "MI250X")])
def test_an_unknown_gpu_type_is_refused_with_the_legal_ones_and_the_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(InvalidFieldError, match=f"gpu_type: .*MI300X, MI210, MI250X, MI300A.*nearest is {nearest}$"):
        check_gpu_type(asked, GPU_TYPES)


@given(st.text())
def test_any_text_is_a_known_gpu_type_or_refused_by_field(text: str) -> None:
    if text.strip().upper() in GPU_TYPES:
        assert check_gpu_type(text, GPU_TYPES) in GPU_TYPES
    else:
        with pytest.raises(InvalidFieldError, match=r"^gpu_type: "):
            check_gpu_type(text, GPU_TYPES)


@pytest.mark.parametrize(("asked", "nearest"), [(0, 1), (9, 8), (-3, 1), (3, 4), (5, 4), (10**9, 8)])
def test_an_odd_number_of_gpus_is_refused_with_the_nearest_legal_one(asked: int, nearest: int) -> None:
    with pytest.raises(InvalidFieldError, match=f"gpu_count: must be one of 1, 2, 4, 8; .*nearest is {nearest}$"):
        check_gpu_count(asked)


def test_legal_numbers_of_gpus_pass() -> None:
    assert [check_gpu_count(count) for count in LEGAL_GPU_COUNTS] == [1, 2, 4, 8]


def test_a_backend_may_be_left_open_and_must_otherwise_be_known() -> None:
    assert check_backend("", ("hotaisle",)) == ""
    assert check_backend("hotaisle", ("amddevcloud", "hotaisle")) == "hotaisle"
    with pytest.raises(
        InvalidFieldError, match=r"backend: must be one of amddevcloud, hotaisle; .*nearest is hotaisle"
    ):
        check_backend("hotaile", ("amddevcloud", "hotaisle"))
    with pytest.raises(InvalidFieldError, match=r"no offer names one now, so 'hotaisle'.* leave it empty$"):
        check_backend("hotaisle", ())


def test_a_price_below_every_offer_is_refused_with_the_cheapest() -> None:
    with pytest.raises(InvalidFieldError, match=r"\$1\.50 is below every offer: the cheapest is \$1\.99"):
        check_max_price(1_500_000, [2_990_000, 1_990_000])
    assert check_max_price(1_990_000, [2_990_000, 1_990_000]) == 1_990_000


def test_no_price_limit_passes_and_a_negative_one_does_not() -> None:
    assert check_max_price(0, [1_990_000]) == 0
    assert check_max_price(5, []) == 5
    with pytest.raises(InvalidFieldError, match=r"max_price.*it is -\$1\.00, and the nearest is 0$"):
        check_max_price(-1_000_000, [1_990_000])


def test_fallbacks_are_each_named_once_and_never_the_wanted_type() -> None:
    assert check_fallback_gpu_types(["mi210", "MI300X", "MI210", "MI300A"], "MI300X", GPU_TYPES) == ("MI210", "MI300A")
    with pytest.raises(InvalidFieldError, match=r"fallback_gpu_types: .*nearest is MI210"):
        check_fallback_gpu_types(["MI21"], "MI300X", GPU_TYPES)
