"""The conductor and its journal, with steps that are little programs of the test's own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from services.executor.core.certify.conductor import Conductor
from services.executor.core.certify.journal import NAME, Journal, JournalError
from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.certify.steps import OPEN_DEVICE, Choice, Section
from services.executor.core.jsonlines import plain

if TYPE_CHECKING:
    from pathlib import Path

SUBJECT = {"device": "abacus", "tree": "1"}
# The last argument is the step's id.
PERFORM = """
import json, os, signal, sys
step = sys.argv[-1]
open(sys.argv[1], "a").write(step + "\\n")
print("noise before the result", flush=True)
if step == "environment/disk": os.abort()
if step == "environment/memory": signal.pause()
if step == "environment/processor": sys.exit("it was silent")
outcome = sys.argv[2] if step == "device/open" else "passed"
print(json.dumps({**json.loads(sys.argv[3]), "step": step, "outcome": outcome}))
"""


def _conduct(folder: Path, only: Section, opened: str = "passed") -> tuple[dict[str, StepResult], list[str]]:
    """The results, and the steps that a process was started for."""
    started = folder / "started"
    started.write_text("")
    journal = Journal(folder, SUBJECT)
    result = json.dumps(plain(StepResult("", Outcome.PASSED, "well")))
    command = [sys.executable, "-c", PERFORM, str(started), opened, result]
    Conductor(command, folder / "logs", journal, "abacus").run(Choice(only={only}), seconds=5.0)
    journal.close()
    return journal.results, started.read_text().split()


def test_steps_that_crash_hang_or_say_nothing_are_results_and_the_next_ones_run(tmp_path: Path) -> None:
    results, started = _conduct(tmp_path, Section.ENVIRONMENT)
    assert results["environment/disk"].why == "crashed: its process ended with SIGABRT and without a result"
    assert results["environment/memory"].why == "hung: it was ended after 5 s"
    assert results["environment/processor"].why == "crashed: its process ended with status 1 and without a result"
    assert results["environment/processor"].details == "it was silent\n"
    outcomes = {step: result.outcome for step, result in results.items()}
    failed = {"environment/disk", "environment/memory", "environment/processor"}
    assert {step for step, outcome in outcomes.items() if outcome is Outcome.FAILED} == failed
    assert outcomes["environment/driver"] is Outcome.PASSED, "the last of the section"
    assert set(started) == set(outcomes)


def test_what_has_a_result_is_not_run_again_but_the_device_is_opened_anew(tmp_path: Path) -> None:
    results, _ = _conduct(tmp_path, Section.ENVIRONMENT)
    again, started = _conduct(tmp_path, Section.ENVIRONMENT)
    assert started == [OPEN_DEVICE]
    assert again == results


def test_without_a_device_nothing_that_needs_it_is_started_and_with_one_it_is(tmp_path: Path) -> None:
    results, started = _conduct(tmp_path, Section.OVERHEAD, opened="not possible here")
    assert started == list(results) == [OPEN_DEVICE]
    results, started = _conduct(tmp_path, Section.OVERHEAD)
    assert started == list(results) == [OPEN_DEVICE, "overhead/first-submission", "overhead/next-submission"]


def test_a_step_that_was_cut_off_is_a_failure_and_half_a_line_is_none(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SUBJECT)
    journal.end(StepResult("honest/a", Outcome.PASSED, "well"))
    journal.begin("honest/b")
    journal.begin("honest/c")
    journal.stop("honest/c")
    journal.close()
    with (tmp_path / NAME).open("a") as file:
        file.write('{"result": {"step": "honest/d", "outco')
    found = Journal(tmp_path, SUBJECT)
    assert {step: result.outcome for step, result in found.results.items()} == {
        "honest/a": Outcome.PASSED,
        "honest/b": Outcome.FAILED,
    }
    assert "certify ended while this step was running" in found.results["honest/b"].why
    found.forget(["honest/b"])
    found.end(StepResult("honest/e", Outcome.MEASURED, ""))
    found.close()
    last = Journal(tmp_path, SUBJECT)
    assert list(last.results) == ["honest/a", "honest/e"]
    last.close()


@pytest.mark.parametrize("changed", [{"device": "rocm"}, {"tree": "2"}])
def test_a_folder_belongs_to_one_device_and_one_tree(tmp_path: Path, changed: dict[str, str]) -> None:
    Journal(tmp_path, SUBJECT).close()
    with pytest.raises(JournalError, match="name another folder"):
        Journal(tmp_path, {**SUBJECT, **changed})


def test_two_do_not_write_to_one_folder(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SUBJECT)
    with pytest.raises(JournalError, match="another certify works in"):
        Journal(tmp_path, SUBJECT)
    journal.close()
