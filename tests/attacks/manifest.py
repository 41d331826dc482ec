"""The manifest of the attacks: each attack, its submissions, and the verdict and timing that each must get.

Every submission has outcomes for every device. `verdict` in its table is for all devices; `cpu`, `sim`, `nvidia` or
`rocm` overrides it for one. Each is one outcome or a list. An outcome is a verdict, followed by the timing if a
benchmark is ACCEPTED: "ACCEPTED UNPROVEN". If clocks decide, several outcomes are right: a time that a clock refutes is
TIMING_INVALID, and a time that it does not refute is never VALID. VALID is the honest time of code that our own runner
launched: the trick is not in that process (`certify/honest_times.py` compares it with the honest time). `on_gpus` of a
folder or submission gives the reason for its outcomes on GPUs, as long as no GPU is here to show it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from problems.kit.definition import Case, Problem
from services.executor.core.certify.honest_times import Contest
from services.executor.core.certify.known_times import with_case
from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.timing.benchmark_result import Timing
from submissions.modes import Mode

FOLDER = Path(__file__).parent


DEVICES = ("cpu", "sim", "nvidia", "rocm")
PARTS_OF_STAGED = frozenset(
    {"11_seed_search/search", "28_residue/leaves_marks", "28_residue/looks_for_marks", "30_network/connects"}
)
"""These need more than one submission; `staged.py` runs them."""


@dataclass(frozen=True)
class Outcome:
    """A verdict, with the timing if the run is an ACCEPTED benchmark."""

    verdict: Verdict
    timing: Timing | None = None

    @classmethod
    def of(cls, text: str) -> Outcome:
        """Parses a text such as "ACCEPTED UNPROVEN"."""
        verdict, _, timing = text.partition(" ")
        return cls(Verdict(verdict), Timing(timing) if timing else None)

    @classmethod
    def reached(cls, finished: Finished) -> Outcome:
        """The outcome of a finished run; only an ACCEPTED run has a timing."""
        accepted = finished.verdict is Verdict.ACCEPTED
        return cls(finished.verdict, finished.benchmarked.timing if accepted and finished.benchmarked else None)

    def __str__(self) -> str:
        """The outcome as the manifest writes it."""
        return " ".join(filter(None, (self.verdict, self.timing)))


@dataclass(frozen=True)
class Attempt:
    """One submission of an attack. `outcomes` lists the right outcomes for each of DEVICES.

    `reason` and `prints` are regular expressions; `reason` must match the whole reason. If `says` is given, one of its
    alternatives must be in the message. `reason` and `says` hold for the first outcome that is not ACCEPTED, and
    `prints` for the first outcome.

    `honest` is the source in the same folder that a VALID time is compared with; if it is empty, the problem's
    reference is used. ACCEPTED is the verdict of attempts that work honestly beside a trick that must have no effect;
    their output says that the trick was tried. With a `plan` the source has kernels only (contract D), which our own
    process launches. `sizes` are those of the only case, if the attempt needs sizes that `cpu` does not have. Limits
    that are given replace those of the suite.
    """

    attack: int
    file: Path
    outcomes: Mapping[str, tuple[Outcome, ...]]
    on_gpus: str
    reason: str = ""
    says: tuple[str, ...] = ()
    prints: str = ""
    problem: str = "vector-addition"
    mode: Mode = Mode.CHECK
    plan: str = ""
    honest: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    call_seconds: float = 0.0
    builder_seconds: float = 0.0
    builder_mib: int = 0
    runner_mib: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the cpu device, for attempts that have only one outcome there."""
        [outcome] = self.outcomes["cpu"]
        return outcome.verdict

    def job(self, **replacements: str) -> CoreJob:
        """The job that is submitted."""
        return CoreJob(self.source(**replacements), self.mode, self.problem, launch_plan=self.plan)

    @property
    def honest_job(self) -> CoreJob:
        """The same work without a trick, for `certify/honest_times.py`."""
        if self.honest:
            source = self.file.with_name(self.honest).read_text("utf-8")
        else:
            source = catalogue().get(self.problem).solution
        return CoreJob(source, self.mode, self.problem)

    async def unfair_gain(self, finished: Finished, context: RunContext) -> str:
        """Explains how a finished run gained by cheating; empty if it did not. `context` is not yet `fitted`."""
        return await Contest(self.job(), self.honest_job, self.fitted(context)).unfair_gain(finished)

    def fitted(self, context: RunContext) -> RunContext:
        """The context with the attempt's own limits and sizes."""
        fitted = replace(context, limits=self._limits(context.limits))
        return replace(fitted, find_problem=partial(_with_sizes, self.sizes)) if self.sizes else fitted

    def _limits(self, limits: StageLimits) -> StageLimits:
        builder, runner = limits.builder, limits.runner
        if self.builder_seconds:
            builder = replace(builder, cpu=timedelta(seconds=self.builder_seconds))
        if self.builder_mib:
            builder = replace(builder, memory_mib=self.builder_mib)
        if self.runner_mib:
            runner = replace(runner, memory_mib=self.runner_mib)
        return replace(limits, builder=builder, runner=runner, call_seconds=self.call_seconds or limits.call_seconds)

    def shortcoming(self, finished: Finished, device: str) -> str:
        """Explains how a finished run on one of DEVICES differs from the manifest; empty if it does not.

        Reasons, messages and output are checked on `cpu` only; on the other devices only the outcome counts.
        """
        outcome, right = Outcome.reached(finished), self.outcomes[device]
        if device == "cpu" and outcome == Outcome(Verdict.ACCEPTED, Timing.UNSTABLE):
            # The processors are shared: the honest time of code that our own runner launched may be uncertain there.
            outcome = Outcome(Verdict.ACCEPTED, Timing.VALID)
        if outcome not in right:
            return f"{outcome}, and not {' or '.join(map(str, right))}: {finished.message} {finished.details}".strip()
        if device != "cpu":
            return ""
        if outcome == next((one for one in right if one.verdict is not Verdict.ACCEPTED), None):
            if re.fullmatch(self.reason, finished.reason) is None:
                return f"the reason is {finished.reason!r}, and not {self.reason!r}"
            if self.says and not any(piece in finished.message for piece in self.says):
                return f"the message is {finished.message!r}, and not one of {self.says}"
        if outcome == right[0] and re.search(self.prints, finished.stdout) is None:
            return f"it printed {finished.stdout!r}, and not {self.prints!r}"
        return ""

    @property
    def name(self) -> str:
        """The attempt's name, such as 09_early_exit/exit_in_a_thread."""
        return f"{self.file.parent.name}/{self.file.stem}"

    @property
    def cheats(self) -> str:
        """The comment at the top of the source, which explains the trick."""
        lines = takewhile(lambda line: line.startswith("// "), self.file.read_text("utf-8").splitlines())
        return " ".join(line.removeprefix("// ") for line in lines)

    def source(self, **replacements: str) -> str:
        """The source text, with each @NAME@ replaced."""
        # Bytes, because reading as text would convert the ends of lines.
        text = self.file.read_bytes().decode()
        for name, value in replacements.items():
            assert f"@{name}@" in text
            text = text.replace(f"@{name}@", value)
        return text


def attack_folders() -> list[Path]:
    """The attacks' folders, in the order of their numbers."""
    return sorted(path.parent for path in FOLDER.glob("*/attack.toml"))


def attempts() -> list[Attempt]:
    """Every submission of every attack."""
    return [attempt for folder in attack_folders() for attempt in _attempts(folder)]


def attempt_named(name: str) -> Attempt:
    """Finds an attempt by a name such as 28_residue/looks_for_marks."""
    return next(attempt for attempt in attempts() if attempt.name == name)


def title_of(folder: Path) -> str:
    """A short title for the attack."""
    return str(_table(folder)["title"])


def _table(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "attack.toml").read_text("utf-8"))


def _attempts(folder: Path) -> list[Attempt]:
    table, number = _table(folder), int(folder.name.split("_")[0])
    found: list[Attempt] = []
    for stem, fields in table["submission"].items():
        everywhere = fields.pop("verdict", None)
        outcomes = {device: _outcomes(fields.pop(device, everywhere)) for device in DEVICES}
        fields["says"] = _list(fields.get("says", []))
        fields["mode"] = Mode(fields.get("mode", Mode.CHECK))
        fields["on_gpus"] = fields.get("on_gpus", table["on_gpus"])
        found.append(Attempt(number, folder / f"{stem}.hip", outcomes, **fields))
    return found


def _outcomes(value: str | list[str]) -> tuple[Outcome, ...]:
    return tuple(map(Outcome.of, _list(value)))


def _list(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _with_sizes(sizes: Mapping[str, int], slug: str) -> Problem:
    """The problem with a single case of these sizes."""
    problem = catalogue().get(slug).problem
    return with_case(problem, Case(f"{dict(sizes)}", {**problem.sizes.cpu[0].values, **sizes}))
