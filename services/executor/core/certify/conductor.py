"""Runs the steps of `certify` one after the other, each in a process of its own, and keeps their results.

A process that exceeds its time is ended, with all that it started; a process that ends without a result has crashed.
Both count as results. So the next step begins afresh, whatever a step does to its process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.executor.core.certify.journal import result_from
from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.certify.sources import sources_for
from services.executor.core.certify.steps import CANARY, OPEN_DEVICE, Section, all_steps, step_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from services.executor.core.certify.journal import Journal
    from services.executor.core.certify.steps import Choice, Step

_GRACE_SECONDS = 10.0
"""Time that a process gets to end its sandboxes after it was told to end."""
_MOST_LOG = 4_000
_LINE_END = "\n"
_NO_DEVICE = "the device cannot be opened (see device/open)"


@dataclass(frozen=True)
class Conductor:
    """Runs steps by `command`, which performs the step whose id is added and prints its result as a line of JSON.

    `logs` is the folder for all other output of steps; `device` is the device's name.
    """

    command: Sequence[str]
    logs: Path
    journal: Journal
    device: str

    def run(self, choice: Choice, seconds: float | None = None) -> list[Step]:
        """Runs the wanted steps that have no result yet; returns all wanted steps.

        `seconds` replaces the time limit of every step. KeyboardInterrupt leaves the running step undone. After a step
        that failed, the device has to open again and pass the canary; if it does not, the remaining steps are not run.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        # The device is opened again each time, because it may have been repaired between two runs.
        before = self.journal.results.get(OPEN_DEVICE)
        self._tell_and_run(step_named(OPEN_DEVICE), "", seconds)
        if before and before.outcome is Outcome.FAILED and self._is_open:
            self._look_again("before this run", [CANARY], seconds)
        steps = self.steps()
        wanted = choice.picked(steps)
        was_open = self._is_open
        for at, step in enumerate(wanted, start=1):
            if step.id in self.journal.results:
                continue
            result = self._tell_and_run(step, f"{at}/{len(wanted)}", seconds)
            if self._is_open and result.outcome is Outcome.FAILED and step.section is not Section.ENVIRONMENT:
                self._look_again(f"after {step.id}", [OPEN_DEVICE, CANARY], seconds)
            if was_open and not self._is_open:
                sys.stderr.write("stopped: nothing more can be found out without the device\n")
                break
        return wanted

    def steps(self) -> list[Step]:
        """Returns every step that there is for this device."""
        opened = self.journal.results.get(OPEN_DEVICE)
        facts: Mapping[str, str] = opened.facts if opened else {}
        is_simulated = facts.get("is_simulated") == "True"
        at_gpu_sizes = facts.get("is_gpu") == "True" and not is_simulated
        return all_steps(sources_for(self.device, simulated=is_simulated), at_gpu_sizes=at_gpu_sizes)

    @property
    def _is_open(self) -> bool:
        opened = self.journal.results.get(OPEN_DEVICE)
        return opened is not None and opened.outcome is Outcome.PASSED

    def _look_again(self, when: str, steps: Sequence[str], seconds: float | None) -> None:
        """Tests whether the device still works. If not, `device/open` has failed, and every run tries it again."""
        for name in steps:
            sys.stderr.write(f"{'again':>9} {name} ... ")
            sys.stderr.flush()
            step = step_named(name)
            found = self._performed(replace(step, seconds=seconds) if seconds else step)
            sys.stderr.write(f"{found.outcome.value} ({found.seconds:.1f} s)\n")
            if found.outcome is not Outcome.PASSED:
                opened = self.journal.results[OPEN_DEVICE]
                why = f"{when} the device does not work any more: {name}: {found.why}"
                self.journal.end(replace(opened, outcome=Outcome.FAILED, why=why, details=found.details))
                return

    def _tell_and_run(self, step: Step, place: str, seconds: float | None) -> StepResult:
        result = self._result(replace(step, seconds=seconds) if seconds else step, place)
        why = "" if result.outcome is Outcome.PASSED else f": {result.why.partition(_LINE_END)[0]}"
        sys.stderr.write(f"{result.outcome.value} ({result.seconds:.1f} s){why}\n")
        return result

    def _result(self, step: Step, place: str) -> StepResult:
        is_possible = not step.needs_device or self._is_open
        try:
            if is_possible:
                self.journal.begin(step.id)
            sys.stderr.write(f"{place:>9} {step.id} ... ")
            sys.stderr.flush()
            if not is_possible:
                # Nothing was tried, so nothing is written down: the step runs once the device opens.
                return StepResult(step.id, Outcome.NOT_POSSIBLE, _NO_DEVICE)
            result = self._performed(step)
        except KeyboardInterrupt:
            sys.stderr.write("stopped\n")
            self.journal.stop(step.id)
            raise
        self.journal.end(result)
        return result

    def _performed(self, step: Step) -> StepResult:
        began, begin = time.time(), time.perf_counter()
        log = self.logs / f"{step.id.replace('/', '.')}.log"
        with log.open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*self.command, step.id],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
            )
            try:
                printed, _ = process.communicate(timeout=step.seconds)
            except subprocess.TimeoutExpired:
                _end(process)
                why = f"hung: it was ended after {step.seconds:g} s"
                return self._lost(step, why, log, began, time.perf_counter() - begin)
            except BaseException:
                _end(process)
                raise
        with suppress(ValueError, KeyError, TypeError, IndexError):
            return result_from(json.loads(printed.splitlines()[-1]))
        why = f"crashed: its process ended with {_ending(process.returncode)} and without a result"
        return self._lost(step, why, log, began, time.perf_counter() - begin)

    def _lost(self, step: Step, why: str, log: Path, began: float, seconds: float) -> StepResult:
        details = log.read_text("utf-8", errors="replace")[-_MOST_LOG:]
        return StepResult(step.id, Outcome.FAILED, why, details=details, began=began, seconds=seconds)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its session: politely first, because it has sandboxes to end, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
            break
    if process.stdout:
        process.stdout.close()


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"status {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"
