"""The result of a step of `certify`, and the exit status of a whole run; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from services.executor.core.certify.steps import Step


class Outcome(StrEnum):
    """The way in which a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    """The step's claim is false here, or could not be proven; `why` says which."""
    NOT_POSSIBLE = "not possible here"
    """It cannot be tried on this machine; `why` has the reason."""
    MEASURED = "measured"
    """It has figures for which no aim is set."""


@dataclass(frozen=True)
class Figure:
    """A number with its unit; `aim` is the wanted value in words, if there is one."""

    name: str
    value: float
    unit: str
    aim: str = ""


@dataclass(frozen=True)
class StepResult:
    """The end of one step. `why` is for people: the observation, and advice if the step did not pass.

    `facts` describe the machine, and `details` are long texts, such as a compiler's. `began` is in Unix seconds.
    """

    step: str
    outcome: Outcome
    why: str
    figures: tuple[Figure, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    details: str = ""
    began: float = 0.0
    seconds: float = 0.0


class ExitStatus:
    """The exit statuses of `certify`, like those of the core's other commands."""

    PASSED = 0
    FAILED = 1
    BAD_USAGE = 2
    NO_DEVICE = 3
    """There is no device, it was lost, or there is no place to write to: nothing is known about the machine."""
    INTERRUPTED = 130


def exit_status(results: Iterable[StepResult], unfinished: Iterable[Step]) -> int:
    """Returns the exit status of a whole run; a step that was to run and did not is no success."""
    found = {result.step: result.outcome for result in results}
    if found.get("device/open") is not Outcome.PASSED:
        return ExitStatus.NO_DEVICE
    if Outcome.FAILED in found.values() or any(unfinished):
        return ExitStatus.FAILED
    return ExitStatus.PASSED
