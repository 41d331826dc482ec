"""The choice of cases from an author's definition: sizes are known before data is made, and the rest is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.problem_host.resolved_problem import resolved_problem
from services.executor.core.run.context import RunContext
from submissions.modes import Mode
from tests.needs import torch_program

pytestmark = pytest.mark.torch

SHORTEST_PATHS = (Path(__file__).parents[1] / "definitions" / "shortest_paths.py").read_text()
SHRINKABLE = """
import torch
from problem import Problem
class mine(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True}, {"name": "y", "type": "float", "pointer": True},
        {"name": "n", "type": "size_t", "pointer": False},
    ]
    sizes = (1 << 30, 3, 1 << 34, 1000)
    def generate_test_cases(self):
        return [{"name": str(n), "n": n, "create_inputs": lambda n=n: self.create(n)} for n in self.sizes]
    def generate_sample(self):
        return {"name": "small", "n": 2, "create_inputs": lambda: self.create(2)}
    def create(self, n):
        return (torch.rand(n, device="cuda") * 2 - 1,)
    def reference_solution(self, x):
        return torch.relu(x)
"""
FIXED = """
class Fixed:
    def __init__(self, create):
        self.create = create
    def __call__(self):
        return self.create()
"""
BASE = FIXED + SHRINKABLE.replace("lambda n=n: self.create(n)", "Fixed(lambda n=n: self.create(n))")
"""Its sizes are not the numbers of a function, so no case can be made smaller."""


async def chosen(
    context: RunContext, definition: str, mode: Mode = Mode.CHECK
) -> tuple[AuthorsProblem, dict[str, str], list[str]]:
    """The problem, the reasons for left-out cases by name, and the names of the cases that run."""
    report: dict[str, object] = {}
    prepared = replace(context, torch_python=torch_program())
    job = CoreJob("", mode, "mine", problem_definition=definition)
    async with resolved_problem(job, None, prepared, report) as problem:
        assert isinstance(problem, AuthorsProblem)
        reported = cast("dict[str, list[dict[str, str]]]", report["problem_definition"])
        names = [case.name for case in problem.sizes.cpu]
        return problem, {one["name"]: one["reason"] for one in reported["cases_left_out"]}, names


async def test_what_no_memory_holds_is_never_made(context: RunContext) -> None:
    _, left_out, names = await chosen(context, BASE)
    assert names == ["3", "1000"]
    assert left_out == {
        "1073741824": "4,096 MiB of inputs, of at most 80 MiB",
        "17179869184": "65,536 MiB of inputs, of at most 80 MiB",
    }


async def test_what_cannot_be_measured_without_data_is_measured_with_it(context: RunContext) -> None:
    whole = SHORTEST_PATHS.replace("lambda n=n: (self._graph(n),)", "Fixed(lambda n=n: (self._graph(n),))")
    problem, left_out, names = await chosen(context, FIXED + whole)
    assert names == ["n = 40", "n = 17"]
    assert list(left_out) == ["n = 900"]
    # Which comes first depends on the machine.
    assert "operations by its reference" in left_out["n = 900"] or "take more than" in left_out["n = 900"]
    assert problem.case_sizes[1].operations == pytest.approx(2 * 40**3, rel=0.1)
    assert problem.flops(problem.sizes.cpu[0]) == 0.0


async def test_products_count_as_products(context: RunContext) -> None:
    product = BASE.replace("return torch.relu(x)", "return (x.expand(n := len(x), n) @ x.expand(n, n))")
    _, left_out, _ = await chosen(context, product.replace("1000)", "900)"))
    assert left_out["900"] == "1.5e+09 operations by its reference, as there is no get_flops, of at most 5e+08"


async def test_what_takes_too_long_is_left_out_and_what_is_larger_is_not_tried(context: RunContext) -> None:
    hurried = replace(context, limits=replace(context.limits, definition_seconds=20.0))
    definition = BASE.replace("sizes = (1 << 30, 3, 1 << 34, 1000)", "sizes = (2000, 1000, 3)")
    slow = definition.replace("return torch.relu(x)", "while len(x) > 3: pass\n        return x")
    _, left_out, names = await chosen(hurried, slow)
    assert names == ["3"]
    assert left_out == {
        "1000": "its inputs and reference take more than 5 s",
        "2000": "not tried, as a smaller one is too much",
    }


async def test_what_takes_too_much_memory_is_left_out(context: RunContext) -> None:
    greedy = BASE.replace(
        "return torch.relu(x)", "return x + (torch.zeros(1 << 36, dtype=torch.uint8)[0] if len(x) > 3 else 0)"
    )
    _, left_out, names = await chosen(context, greedy)
    assert names == ["3"]
    assert left_out["1000"] == "its inputs or reference take too much memory"


async def test_where_no_case_can_be_run_the_sample_is_and_where_there_is_no_sample_the_author_hears_why(
    context: RunContext,
) -> None:
    large = BASE.replace("sizes = (1 << 30, 3, 1 << 34, 1000)", "sizes = (1 << 30,)")
    problem, left_out, names = await chosen(context, large)
    assert (names, list(left_out)) == (["sample"], ["1073741824"])
    assert problem.sample_case is not None
    with pytest.raises(Failure, match=r"`1073741824`: 4,096 MiB of inputs") as raised:
        await chosen(context, large.replace("generate_sample", "generate_none"))
    assert raised.value.reason == "problem_def:size"


async def test_cases_that_nobody_had_time_to_look_at_are_left_out(context: RunContext) -> None:
    hurried = replace(context, limits=replace(context.limits, definition_looking_seconds=0.0))
    _, left_out, names = await chosen(hurried, BASE)
    assert names == ["sample"]
    assert set(left_out.values()) == {"not tried within 0 s"}


async def test_no_definition_grants_a_call_more_than_the_judge_does(context: RunContext) -> None:
    given = {3600: 100.0, 7: 7.0, -1: 100.0}
    granted = {limit: await chosen(context, f"{BASE}    time_limit = {limit!r}\n") for limit in given}
    assert {limit: problem.time_limit_seconds for limit, (problem, _, _) in granted.items()} == given


async def test_where_there_is_no_sample_a_case_somewhat_beyond_the_limits_is_run(context: RunContext) -> None:
    somewhat = BASE.replace("1 << 30, 3, 1 << 34, 1000", "1 << 26, 1 << 25, 1 << 34")
    no_sample = somewhat.replace("generate_sample", "generate_none")
    large_sample = somewhat.replace("self.create(2)", "self.create(1 << 42)")
    for definition in (no_sample, large_sample):
        problem, left_out, names = await chosen(context, definition)
        assert (names, list(left_out), problem.sample_case) == (["33554432"], ["67108864", "17179869184"], None)


async def test_no_case_is_taken_that_the_host_cannot_send_at_once(context: RunContext) -> None:
    definition = BASE.replace("1 << 30, 3, 1 << 34, 1000", "1 << 25,").replace("generate_sample", "generate_none")
    small = replace(context, limits=replace(context.limits, definition_array_mib=100))
    with pytest.raises(Failure, match="128 MiB of inputs, of at most 80 MiB"):
        await chosen(small, definition)


async def test_for_the_sample_alone_no_case_is_looked_at(context: RunContext) -> None:
    problem, left_out, names = await chosen(context, BASE, Mode.SAMPLE)
    assert (names, left_out, list(problem.case_sizes)) == (["sample"], {}, [-1])


async def test_cases_that_are_too_large_run_with_smaller_numbers_if_create_inputs_takes_them(
    context: RunContext,
) -> None:
    problem, left_out, names = await chosen(context, SHRINKABLE)
    assert left_out == {}
    # It is the first half of a half that is below a fifth of the limit of 80 MiB.
    assert names == ["1073741824, made smaller: n=4194304", "3", "17179869184, made smaller: n=4194304", "1000"]
    assert problem.case_sizes[0].input_bytes == 4 * 4194304
    first = problem.shrunk[0]
    assert (first.name, first.numbers) == ("1073741824", "n=4194304")
    assert first.reason == "4,096 MiB of inputs, of at most 80 MiB"


async def test_smaller_numbers_keep_their_divisors_and_odd_ones_stay_odd(context: RunContext) -> None:
    sizes = SHRINKABLE.replace("1 << 30, 3, 1 << 34, 1000", "3 * 64 * 10**6, 10**8 + 1")
    _, _, names = await chosen(context, sizes)
    made = [int(name.rpartition("=")[2]) for name in names]
    assert made[0] % 64 == 0
    assert made[1] % 2 == 1


async def test_a_field_that_create_inputs_does_not_take_keeps_a_case_whole(context: RunContext) -> None:
    other = SHRINKABLE.replace('"name": str(n), "n": n,', '"name": str(n), "n": n, "bytes": 4 * n,')
    _, left_out, names = await chosen(context, other)
    assert names == ["3", "1000"]
    assert list(left_out) == ["1073741824", "17179869184"]


async def test_a_reference_that_cannot_do_smaller_sizes_leaves_its_case_out(context: RunContext) -> None:
    only = SHRINKABLE.replace(
        "return torch.relu(x)", "assert len(x) in (2, 3, 1000, 1 << 30, 1 << 34)\n        return torch.relu(x)"
    )
    _, left_out, names = await chosen(context, only)
    assert names == ["3", "1000"]
    assert left_out["1073741824"] == "4,096 MiB of inputs, of at most 80 MiB"
