from __future__ import annotations

import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1.scheduler_pb2 import GetProblemResponse

from problems.kit.definition import SizeSet
from problems.library.catalogue import Catalogue
from services.scheduler.wire.problems import problem_to_proto

CATALOGUE = Catalogue.load()


def shown(slug: str, hardware: str, dtype: str = "float32") -> GetProblemResponse:
    return problem_to_proto(CATALOGUE.get(slug), dtype, hardware)


def test_a_problem_comes_in_the_element_type_that_is_asked_for() -> None:
    answer = shown("relu", "MI300X", "float16")
    assert answer.problem.signature.startswith("const __half* input, __half* output")
    assert "void solution(const __half* input" in answer.starter
    assert list(answer.problem.dtypes) == ["float32", "float16", "bfloat16"]


def test_parameters_have_the_meanings_that_the_statement_gives() -> None:
    first, *_, last = shown("softmax", "MI300X", "float16").parameters
    assert (first.name, first.type, first.const, first.pointer) == ("input", "__half", True, True)
    assert first.meaning == "device, floats, row-major, read-only"
    assert (last.name, last.type, last.const, last.pointer) == ("ndim", "size_t", False, False)
    assert last.meaning == "the number of dimensions"


def test_a_case_has_its_work_and_the_time_at_the_roof_that_bounds_it() -> None:
    case = shown("softmax", "MI300X").cases[2]
    assert case.name == "shape=(8, 1024, 1024), dim=1, normal"
    assert [(one.name, one.value) for one in case.sizes] == [("shape", "8, 1024, 1024"), ("dim", "1")]
    # 8 Mi floats are read and written, at 5.3 TB/s; besides them the shape is read.
    assert case.bytes == pytest.approx(2 * 4 * 2**23, rel=1e-6)
    assert case.bound == run_event_pb2.BOUND_MEMORY
    assert case.least_ns == pytest.approx(case.bytes / 5.3e12 * 1e9)
    products = shown("matrix-multiplication", "MI300X").cases
    assert products[0].bound == run_event_pb2.BOUND_COMPUTE
    assert products[0].least_ns == pytest.approx(products[0].flops / 163.4e12 * 1e9)


@pytest.mark.parametrize("hardware", ["MI325X", "cpu"])
def test_without_the_makers_figures_there_is_no_least_time(hardware: str) -> None:
    cases = shown("relu", hardware).cases
    assert cases
    assert not any(case.HasField("least_ns") or case.bound for case in cases)


def test_the_cpu_device_has_cases_of_its_own() -> None:
    names = [case.name for case in CATALOGUE.get("relu").problem.sizes.of(SizeSet.CPU)]
    assert [case.name for case in shown("relu", "cpu").cases] == names


def test_every_parameter_of_the_catalogue_has_a_meaning() -> None:
    without = [
        (slug, one.name) for slug in CATALOGUE.problems for one in shown(slug, "MI300X").parameters if not one.meaning
    ]
    assert not without
