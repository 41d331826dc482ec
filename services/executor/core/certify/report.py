"""The whole report of `certify`, as it is written to the folder; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.certify.steps import OPEN_DEVICE, Step
from services.executor.core.model.plain import plain

VERSION = 1
_LEFT_OUT = "left out by --only, --sample or --quick"
_NO_DEVICE = f"the device cannot be opened ({OPEN_DEVICE})"
_STOPPED = "certify was stopped before"


@dataclass(frozen=True)
class Report:
    """The report of a certification. `written` is in Unix seconds; `not_run` has the reason by step."""

    device: str
    tree: str
    written: float
    results: Sequence[StepResult]
    not_run: Mapping[str, str]

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the machine, by name, from all steps."""
        found = {"tree": self.tree}
        for result in self.results:
            found.update(result.facts)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """The number of steps by outcome."""
        counted = Counter(result.outcome.value for result in self.results)
        return {outcome.value: counted[outcome.value] for outcome in Outcome}

    def to_json(self) -> dict[str, object]:
        """Returns the content of result.json."""
        return {
            "version": VERSION,
            "device": self.device,
            "tree": self.tree,
            "written": self.written,
            "counts": self.counts,
            "machine": self.facts,
            "steps": [plain(result) for result in self.results],
            "not_run": dict(self.not_run),
        }


def without_home(result: StepResult, home: str) -> StepResult:
    """Returns the result with `~` for the path of somebody's home folder, which has their name in it."""

    def cut(text: str) -> str:
        # Not `/root` in `/rootless`.
        return re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)

    if not home.strip("/"):
        return result
    return replace(
        result,
        why=cut(result.why),
        figures=tuple(replace(figure, name=cut(figure.name)) for figure in result.figures),
        facts={name: cut(value) for name, value in result.facts.items()},
        details=cut(result.details),
    )


def report_of(
    subject: Mapping[str, str],
    results: Mapping[str, StepResult],
    steps: Sequence[Step],
    wanted: Sequence[Step],
    missing: str,
    written: float,
) -> Report:
    """Returns the report, with results in the order of the steps.

    `missing` says which kernels this installation lacks; it is empty if it has all.
    """
    ordered = [results[step.id] for step in steps if step.id in results]
    is_wanted = {step.id for step in wanted}
    opened = results.get(OPEN_DEVICE)
    is_open = opened is not None and opened.outcome is Outcome.PASSED
    not_run = {
        step.id: _LEFT_OUT if step.id not in is_wanted else _STOPPED if is_open or not step.needs_device else _NO_DEVICE
        for step in steps
        if step.id not in results
    }
    if missing:
        not_run["honest, attacks"] = missing
    return Report(subject["device"], subject["tree"], written, ordered, not_run)
