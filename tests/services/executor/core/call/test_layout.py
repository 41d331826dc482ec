from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.signature import Initial, parse_signature
from services.executor.core.call.layout import GUARD_BYTES, MOST_ARGUMENTS, PAGE_BYTES, layout_of, plan_bytes

PARAMETERS = parse_signature(
    "const float* x, const int* shape, size_t n, double alpha, uint8_t* y", {"y": Initial.ZERO}, frozenset({"shape"})
)
sizes = st.integers(0, 100_000)


@given(sizes, sizes, sizes)
def test_regions_are_apart_on_pages_and_inside_the_memory(x: int, shape: int, y: int) -> None:
    layout = layout_of(PARAMETERS, {"x": (x,), "shape": (shape,), "y": (y, 1)})
    regions = list(layout.regions.values())
    assert [region.data_bytes for region in regions] == [4 * x, 4 * shape, y]
    assert all(region.offset % PAGE_BYTES == 0 for region in regions)
    assert all(region.end == region.offset + region.data_bytes + 2 * GUARD_BYTES for region in regions)
    starts = [region.offset for region in regions]
    ends = [region.end for region in regions]
    assert starts[0] >= PAGE_BYTES
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    assert ends[-1] <= layout.file_bytes


@given(st.integers(0, 2**64 - 1), st.floats(allow_nan=False))
def test_the_plan_says_what_the_runner_reads(n: int, alpha: float) -> None:
    layout = layout_of(PARAMETERS, {"x": (7,), "shape": (2,), "y": (3,)})
    plan = plan_bytes(layout, {"n": n, "alpha": alpha})
    assert len(plan) <= PAGE_BYTES
    assert struct.unpack_from("<QII", plan, 8) == (layout.file_bytes, 5, GUARD_BYTES)
    rows = [struct.unpack_from("<IIQQ16s", plan, 64 + 64 * at) for at in range(5)]
    assert [row[0] for row in rows] == [1, 2, 0, 0, 1]
    assert [row[3] for row in rows] == [28, 8, 0, 0, 3]
    assert rows[4][2] == layout.regions["y"].offset
    assert np.frombuffer(rows[2][4], np.uint64)[0] == n
    assert np.frombuffer(rows[3][4], np.float64)[0] == alpha


def test_a_scalar_that_does_not_fit_its_type_is_an_error() -> None:
    with pytest.raises(OverflowError):
        plan_bytes(layout_of(PARAMETERS, {"x": (1,), "shape": (1,), "y": (1,)}), {"n": -1, "alpha": 0.0})


def test_more_arguments_than_a_plan_can_name_are_refused() -> None:
    many = parse_signature(", ".join(f"int a{at}" for at in range(MOST_ARGUMENTS + 1)), {}, frozenset())
    with pytest.raises(ValueError, match="at most 60 parameters"):
        layout_of(many, {})
