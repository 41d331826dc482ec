"""The conductor and its journal, with small programs of the test's own as steps."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import pytest

from services.executor.core.certify.conductor import Conductor
from services.executor.core.certify.journal import NAME, Journal, JournalError
from services.executor.core.certify.results import ExitStatus, Outcome, StepResult, exit_status
from services.executor.core.certify.steps import CANARY, OPEN_DEVICE, Choice, Section, Step
from services.executor.core.model.plain import plain

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
    """The results, and the steps for which a process was started."""
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


# The device is gone after the named step, until the file is removed; the last argument is the step's id.
LOSE = """
import json, os, signal, sys
from pathlib import Path
step, gone = sys.argv[-1], Path(sys.argv[1]) / "gone"
with (Path(sys.argv[1]) / "started").open("a") as file: file.write(step + "\\n")
lost_at, how, result = sys.argv[2:5]
outcome = "passed"
if step == lost_at:
    gone.touch()
    if how == "crash": os.abort()
    if how == "hang": signal.pause()
    outcome = "failed"
if step == "device/open" and how == "crash" and gone.exists(): outcome = "not possible here"
if step == "device/canary" and how != "crash" and gone.exists(): signal.pause()
print(json.dumps({**json.loads(result), "step": step, "outcome": outcome}))
"""


@pytest.mark.parametrize("how", ["crash", "hang", "fail"])
def test_a_device_that_is_gone_after_a_step_ends_the_run_and_a_later_one_goes_on(tmp_path: Path, how: str) -> None:
    def conduct() -> tuple[dict[str, StepResult], list[str], list[Step]]:
        (tmp_path / "started").write_text("")
        journal = Journal(tmp_path, SUBJECT)
        result = json.dumps(plain(StepResult("", Outcome.PASSED, "well")))
        command = [sys.executable, "-c", LOSE, str(tmp_path), "overhead/first-submission", how, result]
        conductor = Conductor(command, tmp_path / "logs", journal, "abacus")
        wanted = conductor.run(Choice(only={Section.OVERHEAD}), seconds=3.0)
        journal.close()
        left = [step for step in wanted if step.id not in journal.results]
        return journal.results, (tmp_path / "started").read_text().split(), left

    results, started, left = conduct()
    asked_again = [OPEN_DEVICE] if how == "crash" else [OPEN_DEVICE, CANARY]
    assert started == [OPEN_DEVICE, "overhead/first-submission", *asked_again]
    assert results["overhead/first-submission"].outcome is Outcome.FAILED
    assert results[OPEN_DEVICE].why.startswith("after overhead/first-submission the device does not work any more")
    assert [step.id for step in left] == ["overhead/next-submission"]
    assert exit_status(results.values(), left) == ExitStatus.NO_DEVICE

    still_gone, started, left = conduct()
    assert started == asked_again, "nothing is tried on it"
    assert exit_status(still_gone.values(), left) == ExitStatus.NO_DEVICE
    (tmp_path / "gone").unlink()
    mended, started, left = conduct()
    assert (started[-1:], left) == (["overhead/next-submission"], [])
    assert mended[OPEN_DEVICE].outcome is Outcome.PASSED
    assert exit_status(mended.values(), left) == ExitStatus.FAILED, "by the step that it was lost in"


def test_a_step_that_fails_on_a_device_that_works_is_no_end(tmp_path: Path) -> None:
    started = tmp_path / "started"
    journal = Journal(tmp_path, SUBJECT)
    result = json.dumps(plain(StepResult("", Outcome.PASSED, "well")))
    command = [sys.executable, "-c", LOSE, str(tmp_path), "overhead/first-submission", "wrong", result]
    command[2] = LOSE.replace("gone.exists()", "False")
    Conductor(command, tmp_path / "logs", journal, "abacus").run(Choice(only={Section.OVERHEAD}), seconds=5.0)
    journal.close()
    assert journal.results["overhead/next-submission"].outcome is Outcome.PASSED
    assert CANARY not in journal.results, "it was not asked for"
    assert started.read_text().split()[2:4] == [OPEN_DEVICE, CANARY]


def test_stopped_before_the_device_has_been_opened_there_are_the_steps_of_any_device(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SUBJECT)
    steps = Conductor([], tmp_path / "logs", journal, "abacus").steps()
    journal.close()
    assert OPEN_DEVICE in {step.id for step in steps}


ENTRY = '{"result": {"step": "honest/a", "outcome": "passed", "why": "", "figures": []}}'


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (["[1]"], 1),
        (['{"begin": "honest/a"}'], 1),
        (['{"subject": {"device": "abacus", "tree": "1"}}', ENTRY[:40], ENTRY], 2),
        (['{"subject": {"device": "abacus", "tree": "1"}}', ENTRY, ENTRY.replace("passed", "sung")], 3),
        (['{"subject": {"device": "abacus", "tree": "1"}}', '{"result": {"step": "honest/a"}}'], 2),
        (['{"subject": {"device": "abacus", "tree": "1"}}', '{"begin": ["honest/a"]}'], 2),
        (['{"subject": {"device": "abacus", "tree": "1"}}', "\udcff"], 2),
    ],
)
def test_a_damaged_journal_is_one_clear_line_and_is_left_as_it_is(tmp_path: Path, lines: list[str], at: int) -> None:
    damaged = "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")
    (tmp_path / NAME).write_bytes(damaged)
    with pytest.raises(JournalError, match=rf"--out: line {at} of .*{NAME} .*; name another folder") as caught:
        Journal(tmp_path, SUBJECT)
    assert "\n" not in str(caught.value)
    assert (tmp_path / NAME).read_bytes() == damaged


def test_a_full_disk_leaves_the_journal_as_it_was_before_the_step(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SUBJECT)
    journal.end(StepResult("honest/a", Outcome.PASSED, "well"))
    before = (tmp_path / NAME).read_bytes()
    journal.begin("honest/b")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / NAME).stat().st_size + 20, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.end(StepResult("honest/b", Outcome.PASSED, "well"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    journal.close()
    assert (tmp_path / NAME).read_bytes() == before
    assert list(journal.results) == ["honest/a"]
