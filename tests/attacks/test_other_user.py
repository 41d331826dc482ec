"""Another user of the machine tries to disturb a run: he gets nowhere, and the verdict is unaffected."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.one_run import run
from services.executor.core.sandbox import scratch
from services.executor.sandboxes.limits.file_tree import remove_tree
from submissions.modes import Mode
from tests.attacks.conftest import PROBLEMS
from tests.needs import torch_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.executor.core.run.context import RunContext

OTHER_UID = 4242
SYSTEM_PYTHON = "/usr/bin/python3"
HONEST = (PROBLEMS / "vector-addition/solution.hip").read_text("utf-8")
DEFINITIONS = Path(__file__).parents[1] / "services/executor/core/definitions"
needs_another_user = pytest.mark.skipif(
    os.geteuid() != 0 or not Path(SYSTEM_PYTHON).exists(),
    reason="needs root, who can run a program as another user, and Python in /usr/bin",
)


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Folders that are open to all users, as /tmp and /dev/shm are, but for this test alone."""
    memory, disk = (
        Path(tempfile.mkdtemp(prefix="wavepool-test-", dir=parent)) for parent in (scratch._SHARED_MEMORY, None)
    )
    for place in (memory, disk):
        place.chmod(0o1777)
    monkeypatch.setattr(scratch, "_SHARED_MEMORY", memory)
    yield memory, disk
    for place in (memory, disk):
        remove_tree(place)


@contextmanager
def another_user_in(places: tuple[Path, Path], found: dict[str, list[str]]) -> Iterator[None]:
    program = Path(__file__).with_name("other_user.py").read_text()
    with subprocess.Popen(
        [SYSTEM_PYTHON, "-I", "-c", program, *map(str, places)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd="/",
        env={},
        user=OTHER_UID,
        group=OTHER_UID,
        extra_groups=[],
    ) as other_user:
        assert other_user.stdout is not None
        assert other_user.stdout.readline() == b"looking\n"
        yield
        said, _ = other_user.communicate()
        found.update(json.loads(said))


@needs_another_user
async def test_another_user_neither_forges_a_verdict_nor_reads_a_file(
    judged: RunContext, places: tuple[Path, Path]
) -> None:
    found: dict[str, list[str]] = {}
    beside = replace(judged, scratch_parent=places[1])
    job = CoreJob(HONEST, Mode.BENCHMARK, "vector-addition")
    with another_user_in(places, found):
        finished = await run(job, beside, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert any(path.endswith("/socket") for path in found["seen"]), "he was not there in time"
    assert (found["connected"], found["read"], found["listed"]) == ([], [], [])


@needs_another_user
@pytest.mark.torch
async def test_another_user_neither_reads_a_definition_nor_answers_for_it(
    judged: RunContext, places: tuple[Path, Path]
) -> None:
    found: dict[str, list[str]] = {}
    beside = replace(judged, scratch_parent=places[1], torch_python=torch_program())
    kernel, definition = (DEFINITIONS / "relu.hip").read_text(), (DEFINITIONS / "relu.py").read_text()
    with another_user_in(places, found):
        job = CoreJob(kernel, Mode.CHECK, "of-my-own", problem_definition=definition)
        finished = await run(job, beside, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert any(path.endswith("/socket") for path in found["seen"]), "he was not there in time"
    assert (found["connected"], found["read"], found["listed"]) == ([], [], [])
