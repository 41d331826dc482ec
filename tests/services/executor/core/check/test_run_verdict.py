"""Notes of a run to its author."""

from __future__ import annotations

import pytest

from services.executor.core.check.run_verdict import Progress
from services.executor.core.model.events import Compiled, Event
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from submissions.modes import Mode


@pytest.mark.parametrize(("language", "says"), [("hip", False), ("", False), ("cuda", True)])
def test_who_sends_cuda_reads_that_it_is_compiled_as_hip(language: str, says: bool) -> None:
    said: list[Event] = []
    job = CoreJob.from_bytes(CoreJob("x", Mode.CHECK, language=language).to_bytes())
    progress = Progress(job, said.append)
    progress.tell_of_build(Compiled("unused variable", 1.0, cached=False))
    [compiled] = said
    assert isinstance(compiled, Compiled)
    assert compiled.warnings.endswith("unused variable")
    refused = progress.finished(Failure(Verdict.COMPILE_ERROR, "no such header")).message
    for text in (compiled.warnings, refused):
        assert ("is compiled as HIP" in text and "hipify-perl" in text) is says
    assert "HIP" not in progress.finished(Failure(Verdict.WRONG_ANSWER, "wrong")).message
