from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from problems.catalogue import Catalogue
from problems.definition import SizeSet
from problems.element_types import DEFAULT, ELEMENT_TYPES, source_with_element_type
from problems.signature import parse_signature
from services.executor.core.case_judge import CaseJudge, guard_band
from services.executor.core.job import CoreJob, Mode
from services.executor.core.layout import GUARD_BYTES
from services.executor.core.run import run
from services.executor.core.seeds import RunSeed
from services.executor.core.verdict import Verdict
from tests.services.executor.core.conftest import SUBMISSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from problems.definition import Case
    from problems.element_types import ElementType
    from problems.signature import Parameter
    from services.executor.core.equipment import Equipment

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
@pytest.mark.parametrize("dtype", [DEFAULT, "bfloat16"])
async def test_a_read_beside_an_input_always_makes_the_answer_wrong(
    equipment: Equipment, offset: str, dtype: str
) -> None:
    source = (SUBMISSIONS / "reads_beside_the_input.hip").read_text().replace("OFFSET", offset)
    if dtype != DEFAULT:
        source = source_with_element_type(source, ELEMENT_TYPES[dtype])
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition", dtype=dtype), equipment, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "1 of" in finished.message
    assert "got nan" in finished.message
    # Poison of two bytes is now and then the right answer.
    assert "check that the grid covers" not in finished.message
    assert "`wavepool core check --memcheck` names the line" in finished.message
