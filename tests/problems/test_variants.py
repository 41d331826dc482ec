from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import Problem
from problems.kit.element_types import ELEMENT_TYPES, source_with_element_type, underflow, with_element_type
from problems.kit.rounding import EXACT
from problems.library.catalogue import BrokenProblemError, Catalogue
from problems.library.lazy import Call
from problems.library.variants import UnknownElementTypeError, variant_of, variants_of

NARROW = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def call_in(catalogue: Catalogue, slug: str, dtype: str) -> Call:
    problem = variant_of(catalogue.get(slug).problem, dtype)
    return Call.draw(problem, problem.sizes.cpu[0], np.random.default_rng(1))


def wrong(call: Call, values: NDArray[Any]) -> int:
    (name,) = call.problem.outputs
    condition = call.problem.condition(call.case, call.inputs, call.expected)[name]
    dtype = next(parameter.dtype for parameter in call.problem.parameters if parameter.output)
    return compare(values.astype(dtype), call.expected[name], condition, call.problem.tolerance).mismatches


def test_the_default_is_the_problem_itself(catalogue: Catalogue) -> None:
    problem = catalogue.get("sigmoid").problem
    assert variant_of(problem, "float32") is problem


def test_an_element_type_that_a_problem_lacks_is_explained(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownElementTypeError, match="`argmax` has no 'float8_e5m2'; it has float32"):
        variant_of(catalogue.get("argmax").problem, "float8_e5m2")


@pytest.mark.parametrize("dtype", NARROW)
def test_data_is_of_the_type_and_scalars_stay_floats(catalogue: Catalogue, dtype: str) -> None:
    problem = variant_of(catalogue.get("leaky-relu").problem, dtype)
    ctypes = [(parameter.ctype, parameter.pointer) for parameter in problem.parameters]
    data = (ELEMENT_TYPES[dtype].ctype, True)
    assert ctypes == [data, ("float", False), data, ("size_t", False), ("size_t", False)]
    inputs = problem.inputs(problem.sizes.cpu[0], np.random.default_rng(1))
    assert inputs["input"].dtype == NARROW[dtype]
    assert isinstance(inputs["alpha"], float)


def test_integer_outputs_and_shapes_keep_their_types(catalogue: Catalogue) -> None:
    problem = variant_of(catalogue.get("sum-dim").problem, "float16")
    assert [parameter.ctype for parameter in problem.parameters] == ["__half", "int", "__half", "size_t", "size_t"]


@pytest.mark.parametrize("slug", ["matrix-multiplication", "softmax", "mean-dim"])
@pytest.mark.parametrize("dtype", NARROW)
def test_traffic_is_half_of_the_floats(catalogue: Catalogue, slug: str, dtype: str) -> None:
    problem = catalogue.get(slug).problem
    case = problem.sizes.gpu[0]
    assert variant_of(problem, dtype).bytes(case) == problem.bytes(case) / 2
    assert variant_of(problem, dtype).flops(case) == problem.flops(case)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("slug", ["matrix-multiplication", "softmax", "layer-norm", "sigmoid"])
def test_one_rounding_at_the_end_is_granted_and_no_second_one(catalogue: Catalogue, slug: str, dtype: str) -> None:
    call = call_in(catalogue, slug, dtype)
    (expected,) = call.expected.values()
    assert wrong(call, expected) == 0
    spacing = ELEMENT_TYPES[dtype].eps
    assert wrong(call, expected * (1 + 0.4 * spacing)) == 0, "one more small error of the computation"
    assert wrong(call, expected * (1 + 2.0 * spacing)) > 0.9 * np.count_nonzero(np.abs(expected) > 1e-3)


def test_sums_of_half_that_are_added_in_half_are_wrong(catalogue: Catalogue) -> None:
    call = call_in(catalogue, "matrix-multiplication", "float16")
    a, b = call.inputs["input_a"], call.inputs["input_b"]
    total = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for column, row in zip(a.T, b, strict=True):
        total += column[:, None] * row
    assert wrong(call, total) > 0
    assert wrong(call, a.astype(np.float32) @ b.astype(np.float32)) == 0


def test_exact_problems_stay_exact(catalogue: Catalogue) -> None:
    assert variant_of(catalogue.get("relu").problem, "bfloat16").tolerance is EXACT


def test_no_input_or_result_comes_near_the_largest_half(catalogue: Catalogue) -> None:
    for entry in catalogue.entries():
        for variant in variants_of(entry.problem):
            assert isinstance(variant, type(entry.problem))
            call = Call.draw(variant, variant.sizes.cpu[-1], np.random.default_rng(3))
            assert all(np.isfinite(values).all() for values in call.expected.values()), variant.slug


def test_small_halfs_are_kept_and_small_floats_may_be_flushed() -> None:
    assert underflow(np.dtype(np.float32)) == np.finfo(np.float32).smallest_normal
    assert underflow(NARROW["float16"]) == np.finfo(np.float16).smallest_subnormal


def test_only_pointers_change_their_type() -> None:
    half = ELEMENT_TYPES["float16"]
    assert with_element_type("const float* x, float alpha, float *y", half) == "const __half* x, float alpha, __half *y"
    assert with_element_type("float const* x; float4* v; float t[4];", half) == (
        "__half const* x; float4* v; float t[4];"
    )


def test_a_source_gets_the_header_of_its_type() -> None:
    source = "#include <hip/hip_runtime.h>\nvoid f(float* x);\n"
    assert source_with_element_type(source, ELEMENT_TYPES["bfloat16"]) == (
        "#include <hip/hip_runtime.h>\n#include <hip/hip_bf16.h>\nvoid f(__hip_bfloat16* x);\n"
    )


def test_the_statement_says_what_the_other_types_are(catalogue: Catalogue) -> None:
    statement = catalogue.get("softmax").statement
    assert "void solution(const __half* input, int dim, __half* output," in statement
    assert "`__hip_bfloat16` or `hip_bfloat16` from `<hip/hip_bf16.h>`" in statement
    assert "2^-10 for float16, 2^-7 for bfloat16" in statement
    assert "Other element types" not in catalogue.get("argmax").statement


def test_a_file_of_its_own_takes_the_place_of_what_follows_from_float(write_problem: Callable[..., Path]) -> None:
    folder = write_problem()
    problem = folder / "problem.py"
    dtypes = 'title = "Twice"\n    dtypes = ("float32", "float16")'
    problem.write_text(problem.read_text("utf-8").replace('title = "Twice"', dtypes), "utf-8")
    half = 'extern "C" void solution(const half* input, half* output, size_t n, size_t m) {}\n'
    (folder / "starter.float16.hip").write_text(half, "utf-8")
    with pytest.raises(BrokenProblemError, match=r"starter.hip in float16 has `solution\(const half\* input"):
        Catalogue.load(folder.parent)
    (folder / "starter.float16.hip").write_text(f"// mine\n{half.replace('half', '__half')}", "utf-8")
    entry = Catalogue.load(folder.parent).get("twice")
    assert entry.starter_in("float16").startswith("// mine")
    assert "const __half* input" in entry.solution_in("float16")


def test_an_unknown_element_type_is_explained(write_problem: Callable[..., Path]) -> None:
    folder = write_problem()
    problem = folder / "problem.py"
    dtypes = 'title = "Twice"\n    dtypes = ("float32", "float12")'
    problem.write_text(problem.read_text("utf-8").replace('title = "Twice"', dtypes), "utf-8")
    with pytest.raises(BrokenProblemError, match="begin with float32, and choose from float32, float64, float16"):
        Catalogue.load(folder.parent)


def test_a_variant_is_still_a_problem(catalogue: Catalogue) -> None:
    assert isinstance(variant_of(catalogue.get("gelu").problem, "float16"), Problem)
