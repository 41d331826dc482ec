from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.comparison import unit_of
from problems.kit.definition import Case, Part, SizeSet
from problems.kit.element_types import ELEMENT_TYPES, ElementType, source_with_element_type
from problems.kit.parts import ELEMENTS, Stretch
from problems.kit.signature import Parameter, parse_signature
from problems.kit.threads import threads_allowed
from problems.library.catalogue import Catalogue
from services.executor.core.call.layout import GUARD_BYTES, RuleKind
from services.executor.core.check.case_judge import USUAL_RULE, CaseJudge, LargeCaseRule, Trial, guard_band
from services.executor.core.model.job import CoreJob
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.services.executor.core.conftest import ALL_LARGE, SUBMISSIONS
from vocabulary.limits import DEFAULT_DTYPE

PROBLEM = Catalogue.load().get("vector-addition").problem
CALLS = range(24)


def _scales(case: Case, links: int = 0) -> list[float]:
    judge = CaseJudge(PROBLEM, case, RunSeed("a seed"), 0)
    return [float(np.median(np.abs(judge.draw(call, links).inputs["d_input1"]))) for call in CALLS]


def test_hidden_cases_and_chains_come_at_many_scales_and_public_ones_at_their_own() -> None:
    public = PROBLEM.sizes.cpu[0]
    assert max(_scales(public)) < 2 * min(_scales(public))
    hidden = PROBLEM.hidden_case(SizeSet.CPU, RunSeed("a seed").generator("hidden case"))
    for scales in (_scales(hidden), _scales(public, links=2)):
        assert max(scales) > 1e3 * min(scales)


def _undrawn(slug: str, call: int, links: int = 0, large: LargeCaseRule = ALL_LARGE) -> Trial | None:
    problem = Catalogue.load().get(slug).problem
    return CaseJudge(problem, problem.sizes.cpu[0], RunSeed("a seed"), 0, large).undrawn(call, links)


def test_chains_that_a_device_draws_come_at_many_scales_too() -> None:
    found: dict[int, list[float]] = {0: [], 2: []}
    for links, scales in found.items():
        for call in CALLS:
            trial = _undrawn("vector-addition", call, links)
            assert trial is not None
            values = CaseJudge(PROBLEM, PROBLEM.sizes.cpu[0], RunSeed("a seed"), 0).remade(trial, 5, call).inputs
            scales.append(float(np.median(np.abs(values["d_input1"]))))
    assert max(found[0]) < 2 * min(found[0])
    assert max(found[2]) > 1e3 * min(found[2])


def test_what_a_device_is_to_draw_is_loaded_as_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge's memory may hold answers and secrets, which must not reach a sandbox."""
    monkeypatch.setattr(np, "empty", np.ones)
    trial = _undrawn("vector-addition", 1)
    assert trial is not None
    assert {rule.kind for name, rule in trial.rules.items() if "input" in name} == {RuleKind.DRAW}
    assert not any(trial.inputs[name].any() for name in ("d_input1", "d_input2"))


@pytest.mark.parametrize("slug", ["kl-loss", "product-dim", "histogram"])
def test_a_case_whose_values_hang_together_or_have_bounds_is_for_the_host_to_draw(slug: str) -> None:
    assert _undrawn(slug, 1) is None


def test_a_small_case_is_for_the_host_to_draw() -> None:
    assert _undrawn("vector-addition", 1, large=USUAL_RULE) is None


def test_a_call_is_planted_alike_from_the_same_seed_and_otherwise_from_another() -> None:
    case = PROBLEM.sizes.cpu[0]
    first, again, other = (
        CaseJudge(PROBLEM, case, RunSeed(text), 0).draw(3).inputs["d_input1"] for text in ("one", "one", "two")
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    drawn = PROBLEM.inputs(case, RunSeed("one").generator("inputs", 0, 3))["d_input1"]
    changed = np.flatnonzero(drawn != first)
    assert 0 < changed.size < first.size / 1000
    assert changed[-1] >= first.size - 64


def _band(declaration: str) -> tuple[Parameter, NDArray[Any]]:
    parameter = parse_signature(declaration, {}, frozenset())[0]
    band = guard_band(parameter, np.random.default_rng(3))
    assert len(band) == GUARD_BYTES
    return parameter, np.frombuffer(band, parameter.dtype)


@pytest.mark.parametrize("element", ELEMENT_TYPES.values(), ids=lambda element: element.name)
def test_every_element_beside_an_input_of_floats_is_nan(element: ElementType) -> None:
    parameter, band = _band(f"const {element.ctype}* input")
    assert parameter.dtype == element.dtype
    assert np.isnan(band).all()
    # Types with a single NaN aside, no two calls have the same.
    assert len(np.unique(band.view(f"u{element.dtype.itemsize}"))) > 1 or "fnuz" in element.name


def test_what_lies_beside_integers_is_random() -> None:
    _, band = _band("const int* input")
    assert len(np.unique(band)) == band.size


def test_each_array_of_each_call_has_a_guard_band_of_its_own() -> None:
    judge = CaseJudge(PROBLEM, PROBLEM.sizes.cpu[0], RunSeed("a seed"), 0)
    bands = [band for call in range(3) for band in judge.draw(call).guards.values()]
    assert len(set(bands)) == len(bands) == 9


@pytest.mark.parametrize("offset", ["1", "-1"])
@pytest.mark.parametrize("dtype", [DEFAULT_DTYPE, "bfloat16"])
async def test_a_read_beside_an_input_always_makes_the_answer_wrong(
    context: RunContext, offset: str, dtype: str
) -> None:
    source = (SUBMISSIONS / "reads_beside_the_input.hip").read_text().replace("OFFSET", offset)
    if dtype != DEFAULT_DTYPE:
        source = source_with_element_type(source, ELEMENT_TYPES[dtype])
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition", dtype=dtype), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "1 of" in finished.message
    assert "got nan" in finished.message
    # Poison of two bytes is now and then the right answer.
    assert "check that the grid covers" not in finished.message
    assert "`wavepool core check --memcheck` names the line" in finished.message


async def test_a_thread_that_is_not_joined_is_thought_of_where_nothing_was_written(context: RunContext) -> None:
    source = """
        #include <thread>
        extern "C" void solution(const float*, const float*, float* output, size_t) {
            std::thread([output] {
                std::this_thread::sleep_for(std::chrono::hours(1));
                output[0] = 1;
            }).detach();
        }
    """
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "to a thread that it does not join" in finished.message


def _large_answer(slug: str) -> tuple[CaseJudge, Trial, dict[str, NDArray[Any]]]:
    problem = Catalogue.load().get(slug).problem
    case = min((one for one in problem.sizes.gpu if problem.bytes(one) > USUAL_RULE.large_bytes), key=problem.bytes)
    judge = CaseJudge(problem, case, RunSeed("a seed"), 0)
    trial = judge.draw(1)
    return judge, trial, {name: value.astype(np.float32) for name, value in judge.expected(trial).items()}


@pytest.mark.parametrize("slug", ["vector-addition", "kl-loss"])
def test_a_large_answer_is_compared_by_stretches_and_every_element_of_it(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, trial, outputs = _large_answer(slug)
    ((name, output),) = outputs.items()
    with monkeypatch.context() as patch:
        patch.setattr(CaseJudge, "expected", lambda *_: pytest.fail("the whole reference was computed"))
        with threads_allowed(2):
            assert judge.fault(trial, outputs) is None
    for place in (0, output.size // 2, output.size - 1):
        wrong = output.copy()
        wrong.reshape(-1)[place] += 1000
        failure = judge.fault(trial, {name: wrong})
        assert failure is not None
        assert (failure.verdict, f"1 of {output.size:,} elements" in failure.message) == (Verdict.WRONG_ANSWER, True)


@pytest.mark.parametrize("slug", ["cosine-similarity", "product-dim"])
def test_errors_that_lean_to_one_side_are_found_though_a_stretch_has_too_few_elements_to_tell(slug: str) -> None:
    problem = Catalogue.load().get(slug).problem
    case = max(problem.sizes.cpu, key=lambda one: prod(problem.output_shapes(one)["output"]))
    judge = CaseJudge(problem, case, RunSeed("a seed"), 0, LargeCaseRule(large_bytes=1 << 14, stretch_bytes=1 << 13))
    trial = judge.draw(1)
    expected = judge.expected(trial)
    unit = unit_of(np.dtype(np.float32), problem.condition(case, trial.inputs, expected)["output"], problem.tolerance)
    right, leaning = (
        {"output": (expected["output"] + share * problem.tolerance.units * unit).astype(np.float32)}
        for share in (0.0, 0.75)
    )
    assert judge.fault(trial, right) is None
    assert judge.fault(trial, leaning) is not None


def test_elements_that_no_stretch_has_are_compared_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, trial, outputs = _large_answer("vector-addition")
    names = [parameter.name for parameter in PROBLEM.parameters if parameter.pointer]

    def all_but_the_last(case: Case, stretch: Stretch) -> Part:
        return Part(case, dict.fromkeys(names, stretch.of(outputs["d_output"].size - 1)))

    monkeypatch.setattr(judge.problem, "part", all_but_the_last)
    assert judge.fault(trial, outputs) is None
    outputs["d_output"][-1] += 1000
    assert judge.fault(trial, outputs) is not None


def test_a_large_answer_without_stretches_is_compared_whole() -> None:
    judge, trial, outputs = _large_answer("nvfp4-quantize")
    outputs["q"] = outputs["q"].astype(np.uint8)
    outputs["scale"] = judge.expected(trial)["scale"].astype(judge.problem.parameters[3].dtype)
    assert judge.fault(trial, outputs) is None
    outputs["q"][-1, -1] ^= 1
    assert judge.fault(trial, outputs) is not None


def test_of_a_large_answer_the_window_and_the_map_say_what_was_looked_at() -> None:
    case = Case("large", {**PROBLEM.sizes.gpu[0].values, "n": 3 * ELEMENTS})
    judge = CaseJudge(PROBLEM, case, RunSeed("a seed"), 0)
    trial = judge.draw(1)
    outputs = {"d_output": np.full(3 * ELEMENTS, 1000, np.float32)}
    failure = judge.fault_in_part(trial, outputs)
    assert failure is not None
    wrong = failure.wrong_answer
    assert wrong is not None
    assert wrong.window is not None
    assert wrong.error_map is not None
    first, (begin,) = wrong.first_mismatches[0], wrong.window.origin
    assert wrong.window.actual[first.index[0] - begin] == first.actual
    assert wrong.window.wrong == wrong.window.compared
    assert 0 < sum(wrong.window.compared) < len(wrong.window.compared)
    assert sum(wrong.error_map.compared) == sum(wrong.error_map.wrong) == wrong.element_count
