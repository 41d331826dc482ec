from __future__ import annotations

import pytest

from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS


@pytest.fixture
async def finished(request: pytest.FixtureRequest, context: RunContext) -> Finished:
    source = (SUBMISSIONS / f"{request.param}.hip").read_text()
    return await run(CoreJob(source, Mode.CHECK, "matrix-multiplication"), context, lambda _: None)


@pytest.mark.parametrize("finished", ["bf16_accumulator"], indirect=True)
def test_a_product_with_a_narrow_accumulator_is_imprecise_and_its_author_reads_what_to_do(finished: Finished) -> None:
    assert finished.verdict is Verdict.PRECISION, finished
    assert finished.status == "WRONG_ANSWER"
    assert finished.reason in {"bfloat16", "float16 or tf32"}
    assert "99.9 % are within" in finished.message
    assert "accumulators" in finished.message
    assert "A unit is eps * condition" in finished.details
    assert finished.wrong_answer is not None
    assert finished.wrong_answer.mismatch_count > 0


@pytest.mark.parametrize("finished", ["most_of_the_sum"], indirect=True)
def test_a_product_that_leaves_terms_out_is_wrong(finished: Finished) -> None:
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


async def _selu(context: RunContext, alpha: str, scale: str, dtype: str = "float32") -> Finished:
    entry = catalogue().get("selu")
    source = entry.solution_in(dtype).replace("1.6732632423543772f", alpha).replace("1.0507009873554805f", scale)
    assert source.count(f"= {alpha};") == source.count(f"= {scale};") == 1
    return await run(CoreJob(source, Mode.CHECK, "selu", dtype=dtype), context, lambda _: None)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
async def test_constants_as_they_are_published_pass(context: RunContext, dtype: str) -> None:
    finished = await _selu(context, "1.67326f", "1.0507f", dtype)
    assert finished.verdict is Verdict.ACCEPTED, finished


async def test_constants_with_too_few_digits_are_not_said_to_be_narrow_arithmetic(context: RunContext) -> None:
    finished = await _selu(context, "1.6733f", "1.0507f")
    assert finished.verdict is Verdict.PRECISION, finished
    assert finished.reason == "approximation"
    assert "look for constants with too few digits" in finished.message
    assert "float16" not in finished.message
