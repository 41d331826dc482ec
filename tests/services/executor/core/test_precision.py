from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services.executor.core.job import CoreJob, Mode
from services.executor.core.run import run
from services.executor.core.verdict import Verdict
from tests.services.executor.core.conftest import SUBMISSIONS

if TYPE_CHECKING:
    from services.executor.core.equipment import Equipment
    from services.executor.core.events import Finished


@pytest.fixture
async def finished(request: pytest.FixtureRequest, equipment: Equipment) -> Finished:
    source = (SUBMISSIONS / f"{request.param}.hip").read_text()
    return await run(CoreJob(source, Mode.CHECK, "matrix-multiplication"), equipment, lambda _: None)


@pytest.mark.parametrize("finished", ["bf16_accumulator"], indirect=True)
def test_a_product_with_a_narrow_accumulator_is_imprecise_and_told_what_to_do(finished: Finished) -> None:
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
