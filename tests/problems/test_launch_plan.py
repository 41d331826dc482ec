from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.launch_plan import MAX_LAUNCHES, LaunchLimits, LaunchPlanError, parse_plan, shape_of
from problems.kit.signature import Initial, parse_signature
from problems.kit.sized_launch import scratch_bytes, sized_launches
from vocabulary.limits import MAX_PLAN_BYTES

PARAMETERS = parse_signature(
    "const float* input, float* output, const int* shape, int ndim, size_t n, float alpha",
    {"output": Initial.POISON},
    frozenset({"shape"}),
)
LAUNCH: dict[str, Any] = {"kernel": "k", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["input", "output", "n"]}
VALUES: dict[str, Any] = {
    "input": np.zeros((3, 5)),
    "output": np.zeros(4),
    "shape": np.array([3, 5], np.int32),
    "ndim": 2,
    "n": 1000,
    "alpha": 0.5,
}
SHAPE = shape_of(PARAMETERS, VALUES)


def plan_text(**changes: Any) -> str:
    return json.dumps({"launches": [LAUNCH | changes]})


def used(text: str) -> LaunchPlanError | None:
    """The error in a plan, or None."""
    try:
        plan = parse_plan(text, PARAMETERS)
        sized_launches(plan, SHAPE, LaunchLimits())
        scratch_bytes(plan, SHAPE)
    except LaunchPlanError as error:
        return error
    return None


def refusal(text: str) -> LaunchPlanError:
    error = used(text)
    assert error is not None
    return error


def test_a_plan_becomes_numbers_for_each_shape() -> None:
    constants = [{"type": "int", "value": "n - 1001"}, {"type": "float", "value": 1.5}, {"type": "bool", "value": 1}]
    plan = parse_plan(plan_text(block=[32, "shape[1]", 2], lds_bytes="4 * n", args=["input", *constants]), PARAMETERS)
    launch = sized_launches(plan, SHAPE, LaunchLimits())[0]
    assert (launch.grid, launch.block, launch.lds_bytes) == ((4, 1, 1), (32, 5, 2), 4000)
    assert launch.constants == (b"\xff\xff\xff\xff", b"\x00\x00\xc0\x3f", b"\x01")
    assert plan.kernels == {"k": 4}


def test_scratch_is_sized_by_expressions_and_may_be_passed() -> None:
    scratch = [{"name": "partial", "bytes": "ceil_div(n, 256) * 4", "initial": "zero"}, {"name": "other", "bytes": 8}]
    plan = parse_plan(
        json.dumps({"launches": [LAUNCH | {"args": ["partial", "other"]}], "scratch": scratch}), PARAMETERS
    )
    assert scratch_bytes(plan, SHAPE) == {"partial": 16, "other": 8}
    assert [buffer.is_zero for buffer in plan.scratch] == [True, False]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kernel": "no name"}, "launches[0].kernel"),
        ({"kernel": 3}, "launches[0].kernel"),
        ({"grid": []}, "launches[0].grid"),
        ({"grid": [1, 1, 1, 1]}, "launches[0].grid"),
        ({"grid": [1, "m"]}, "launches[0].grid[1]"),
        ({"grid": [1, 0]}, "launches[0].grid[1]"),
        ({"grid": [1, 65536]}, "launches[0].grid[1]"),
        ({"grid": [1 << 31]}, "launches[0].grid[0]"),
        ({"grid": [1.5]}, "launches[0].grid[0]"),
        ({"block": [1025]}, "launches[0].block[0]"),
        ({"block": [64, 32]}, "launches[0].block"),
        ({"block": ["n / (ndim - 2)"]}, "launches[0].block[0]"),
        ({"lds_bytes": 65537}, "launches[0].lds_bytes"),
        ({"lds_bytes": -1}, "launches[0].lds_bytes"),
        ({"args": ["input", "missing"]}, "launches[0].args[1]"),
        ({"args": [{"type": "int"}]}, "launches[0].args[0].value"),
        ({"args": [{"type": "string", "value": 1}]}, "launches[0].args[0].type"),
        ({"args": [{"type": "uint8_t", "value": 256}]}, "launches[0].args[0].value"),
        ({"args": [{"type": "float", "value": "1"}]}, "launches[0].args[0].value"),
        ({"colour": "red"}, "launches[0].colour"),
    ],
)
def test_what_is_wrong_with_a_launch_is_named_by_its_path(changes: dict[str, Any], field: str) -> None:
    assert refusal(plan_text(**changes)).field == f"launch_plan.{field}"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "launch_plan"),
        ("[]", "launch_plan"),
        ("{}", "launch_plan.launches"),
        ('{"launches": []}', "launch_plan.launches"),
        (json.dumps({"launches": [LAUNCH] * (MAX_LAUNCHES + 1)}), "launch_plan.launches"),
        (json.dumps({"launches": [LAUNCH, LAUNCH | {"args": []}]}), "launch_plan.launches[1].args"),
        (json.dumps({"launches": [LAUNCH], "scratch": [{"name": "n", "bytes": 4}]}), "launch_plan.scratch[0].name"),
        (json.dumps({"launches": [LAUNCH], "scratch": [{"name": "s", "bytes": 0}]}), "launch_plan.scratch[0].bytes"),
        (
            json.dumps({"launches": [LAUNCH], "scratch": [{"name": "s", "bytes": 1 << 31}]}),
            "launch_plan.scratch[0].bytes",
        ),
        (
            json.dumps({"launches": [LAUNCH], "scratch": [{"name": "s", "bytes": 1, "initial": "ones"}]}),
            "launch_plan.scratch[0].initial",
        ),
        (" " * MAX_PLAN_BYTES + "{}", "launch_plan"),
        ("[" * 5000, "launch_plan"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named_by_its_path(text: str, field: str) -> None:
    assert refusal(text).field == field


def test_names_are_free_where_the_problem_is_not_known_yet() -> None:
    plan = parse_plan(plan_text(grid=["whatever"], args=["anything"]), None)
    assert plan.launches[0].arguments == ("anything",)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*LAUNCH, "type", "value"]), inner),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_a_plan_or_refused_by_name(value: object) -> None:
    for text in (
        json.dumps(value),
        json.dumps({"launches": [value]}),
        json.dumps({"launches": [LAUNCH], "scratch": value}),
    ):
        error = used(text)
        assert error is None or error.field.startswith("launch_plan")
