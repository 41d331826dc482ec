from __future__ import annotations

from services.executor.core.model.limits import StageLimits
from vocabulary.limits import LONGEST_RUN


def test_a_runner_and_its_judge_end_before_the_scheduler_gives_the_run_up() -> None:
    assert StageLimits().runner_sandbox.wall < LONGEST_RUN
