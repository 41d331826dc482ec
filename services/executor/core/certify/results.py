"""What a step of `certify` found, and what all of them come to; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.executor.core.certify.steps import Step


class Outcome(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    """The step's claim is false here, or could not be proven; `why` says which."""
    NOT_POSSIBLE = "not possible here"
    """It cannot be tried on this machine; `why` says what it would take."""
    MEASURED = "measured"
    """Figures that no aim is set for."""


@dataclass(frozen=True)
class Figure:
    """A number with its unit; `aim` says in words what it should be, where that is known."""

    name: str
    value: float
    unit: str
    aim: str = ""


@dataclass(frozen=True)
class StepResult:
    """The end of one step. `why` is for people: what was seen, and what to do if it did not pass.

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
    """Of `certify`, like those of the core's other commands."""

    PASSED = 0
    FAILED = 1
    BAD_USAGE = 2
    NO_DEVICE = 3
    """Or none any more, or no place to write to: nothing is known of what was to be certified."""
    INTERRUPTED = 130


def exit_status(results: Iterable[StepResult], unfinished: Iterable[Step]) -> int:
    """What a whole run comes to. Steps that were to run and did not are no success."""
    found = {result.step: result.outcome for result in results}
    if found.get("device/open") is not Outcome.PASSED:
        return ExitStatus.NO_DEVICE
    if Outcome.FAILED in found.values() or any(unfinished):
        return ExitStatus.FAILED
    return ExitStatus.PASSED
