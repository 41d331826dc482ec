from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabulary.roofline import (
    Bound,
    Roofs,
    Work,
    bound_of,
    floor_of,
    has_peak,
    is_below_floor,
    peak_of,
    roofs_note,
    roofs_of,
    roofs_of_type,
)

MI300X = roofs_of("gfx942", "AMD Instinct MI300X (SPX/NPS1)")
assert MI300X is not None
amounts = st.floats(0, 1e13)


def floor_seconds(roofs: Roofs, work: Work) -> float:
    return floor_of(roofs, work).seconds


def test_a_gpu_type_has_the_roofs_of_the_one_gpu_of_its_name() -> None:
    assert roofs_of_type("mi300x") == MI300X
    assert [roofs_of_type(name) for name in ("MI325X", "H100", "cpu", "")] == [None] * 4


def test_a_type_has_a_peak_only_if_the_maker_states_one() -> None:
    older = roofs_of_type("MI210")
    assert older is not None
    assert [has_peak(older, dtype) for dtype in ("float16", "float8_e4m3", "float3")] == [True, False, False]


def test_only_known_hardware_has_roofs() -> None:
    assert roofs_of("x86_64", "AMD EPYC") is None
    assert roofs_of("gfx942", "AMD Instinct MI325X") is None
    assert roofs_of("sm_100", "NVIDIA H200") is None
    assert roofs_of("sm_90", "NVIDIA GH200 480GB") is None
    assert "NVIDIA B200" in roofs_note(None, "NVIDIA B200")


@pytest.mark.parametrize(
    ("architecture", "title", "tb_per_second", "bfloat16_tflops"),
    [
        ("gfx942", "AMD Instinct MI300X", 5.3, 1307.4),
        ("gfx942", "AMD Instinct MI300A", 5.3, 980.6),
        ("gfx90a", "AMD Instinct MI250X", 1.6384, 191.5),
        ("gfx90a", "AMD Instinct MI210", 1.6384, 181.0),
        ("sm_90", "NVIDIA H100 80GB HBM3", 3.35, 989.4),
        ("sm_90", "NVIDIA H100 PCIe", 2.0, 756.5),
        ("sm_90", "NVIDIA H100 NVL", 3.9, 835.5),
        ("sm_90", "NVIDIA H200", 4.8, 989.4),
    ],
)
def test_every_known_gpu_has_roofs_of_its_own(
    architecture: str, title: str, tb_per_second: float, bfloat16_tflops: float
) -> None:
    roofs = roofs_of(architecture, title)
    assert roofs is not None
    assert roofs.bytes_per_second == pytest.approx(tb_per_second * 1e12)
    assert peak_of(roofs, "bfloat16") == pytest.approx(bfloat16_tflops * 1e12)
    assert peak_of(roofs, "float64") <= peak_of(roofs, "float32") < peak_of(roofs, "float16")
    assert roofs_note(roofs, title) == roofs.source
    assert "data sheet" in roofs.source


@given(amounts, amounts, amounts, amounts)
def test_more_traffic_never_lowers_the_floor(read: float, written: float, more: float, flops: float) -> None:
    assert MI300X is not None
    less = floor_seconds(MI300X, Work(read, written, flops, "float32"))
    assert less >= MI300X.launch_seconds
    assert floor_seconds(MI300X, Work(read + more, written, flops, "float32")) >= less
    assert floor_seconds(MI300X, Work(read, written + more, flops, "float32")) >= less


def test_a_copy_of_four_gigabytes_takes_at_least_its_traffic() -> None:
    assert MI300X is not None
    work = Work(4e9, 4e9, 0, "float32")
    # All reads, and the writes that do not fit into the last cache.
    assert floor_seconds(MI300X, work) == pytest.approx((8e9 - 256 * 2**20) / 5.3e12)
    assert is_below_floor(MI300X, work, 1.3e-3)
    assert not is_below_floor(MI300X, work, 1.5e-3)


def test_operations_are_no_floor_but_a_roof() -> None:
    assert MI300X is not None
    work = Work(1e6, 1e6, 1e12, "float32")
    assert floor_seconds(MI300X, work) == MI300X.launch_seconds
    bound, percent = bound_of(MI300X, work, 1e12 / 163.4e12 * 2)
    assert bound is Bound.COMPUTE
    assert percent == pytest.approx(50)
    assert bound_of(MI300X, Work(1e6, 1e6, 1e12, "float16"), 1e-3)[1] == pytest.approx(100 * 1e12 / 1307.4e12 / 1e-3)


@given(amounts, st.sampled_from(["float64", "float32", "float16", "bfloat16", "float8_e4m3fnuz", "int8", "int32"]))
def test_operations_count_where_the_problem_fixes_the_algorithm(flops: float, dtype: str) -> None:
    assert MI300X is not None
    work = Work(0, 0, flops, dtype, flops_are_least=True)
    assert floor_seconds(MI300X, work) == max(MI300X.launch_seconds, flops / peak_of(MI300X, dtype))
    assert floor_seconds(MI300X, replace(work, flops_are_least=False)) == MI300X.launch_seconds


def test_the_ridge_points_are_those_of_the_data_sheet() -> None:
    assert MI300X is not None
    ridges = {dtype: peak_of(MI300X, dtype) / MI300X.bytes_per_second for dtype in ("float32", "bfloat16", "float8")}
    assert ridges == pytest.approx({"float32": 30.8, "bfloat16": 246.7, "float8": 493}, rel=2e-3)


def test_the_floor_says_what_takes_so_long() -> None:
    assert MI300X is not None
    assert floor_of(MI300X, Work(0, 0, 0, "float32")).because == "launching a kernel"
    assert floor_of(MI300X, Work(5.3e9, 0, 0, "float32")).because == "moving 5.3e+09 bytes at 5.3 TB/s"
    fixed = Work(0, 0, 1e12, "float32", flops_are_least=True)
    assert floor_of(MI300X, fixed).because == "doing 1e+12 operations at 163.4 TFLOP/s"


def test_arithmetic_intensity_is_operations_a_byte() -> None:
    assert Work(100, 100, 400, "float32").arithmetic_intensity == 2
    assert Work(0, 0, 400, "float32").arithmetic_intensity is None


def test_small_work_is_bound_by_the_launch_and_large_copies_by_memory() -> None:
    assert MI300X is not None
    assert bound_of(MI300X, Work(100, 100, 100, "float32"), 4e-6) == (Bound.LAUNCH, pytest.approx(50))
    assert bound_of(MI300X, Work(5.3e9, 0, 1e3, "float32"), 1e-3) == (Bound.MEMORY, pytest.approx(100))
