"""What the folders of this one say: each attack, its submissions, and the verdict and timing that each must get.

Every submission has outcomes for every device. `verdict` in its table is for all of them, and `cpu`, `sim`, `nvidia` or
`rocm` takes its place there; each is one outcome or a list. An outcome is a verdict, and after ACCEPTED of a benchmark
the timing beside it: "ACCEPTED UNPROVEN". Where clocks decide, several outcomes are right: what a clock refutes is
TIMING_INVALID, and what it does not refute is never VALID. VALID is the honest time of what a runner of ours launched:
the trick is not in that process (`conftest.py` compares it). `on_gpus` of a folder or submission says why its outcomes
on GPUs are what they are, for as long as no GPU is here to show it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.executor.core.benchmark_result import Timing
from services.executor.core.job import CoreJob, Mode
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.executor.core.events import Finished

FOLDER = Path(__file__).parent


DEVICES = ("cpu", "sim", "nvidia", "rocm")


@dataclass(frozen=True)
class Outcome:
    """A verdict, and of a benchmark that is ACCEPTED the timing beside it."""

    verdict: Verdict
    timing: Timing | None = None

    @classmethod
    def of(cls, text: str) -> Outcome:
        """E.g. of "ACCEPTED UNPROVEN"."""
        verdict, _, timing = text.partition(" ")
        return cls(Verdict(verdict), Timing(timing) if timing else None)

    @classmethod
    def reached(cls, finished: Finished) -> Outcome:
        """That of a finished run; a run that is not ACCEPTED has no timing that anybody could take for one."""
        accepted = finished.verdict is Verdict.ACCEPTED
        return cls(finished.verdict, finished.benchmarked.timing if accepted and finished.benchmarked else None)

    def __str__(self) -> str:
        """As in the manifest."""
        return " ".join(filter(None, (self.verdict, self.timing)))


@dataclass(frozen=True)
class Attempt:
    """One submission of an attack. `outcomes` has those that are right on each of DEVICES.

    `reason` and `prints` are regular expressions, the first for the whole reason. Of `says`, where it is given, one
    alternative is in the message. Both hold for the first outcome that is not ACCEPTED, and `prints` for the first.

    `honest` is the source in the same folder that a VALID time is compared with; if empty, the problem's reference is.
    ACCEPTED is the verdict of attempts that work honestly beside a trick which must have no effect; what they print
    says that the trick was tried. With a `plan` the source is kernels only (contract D), which our own process
    launches. `sizes` are those of the only case, if the attempt is at a case of other sizes than `cpu` has. The limits
    replace those of the suite where they are given.
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
        """On the cpu device, where nothing is left to chance."""
        [outcome] = self.outcomes["cpu"]
        return outcome.verdict

    def job(self, **replacements: str) -> CoreJob:
        """What is submitted."""
        return CoreJob(self.source(**replacements), self.mode, self.problem, launch_plan=self.plan)

    @property
    def name(self) -> str:
        """E.g. 09_early_exit/exit_in_a_thread."""
        return f"{self.file.parent.name}/{self.file.stem}"

    @property
    def cheats(self) -> str:
        """How: the comment that the source begins with."""
        lines = takewhile(lambda line: line.startswith("// "), self.file.read_text("utf-8").splitlines())
        return " ".join(line.removeprefix("// ") for line in lines)

    def source(self, **replacements: str) -> str:
        """The text, with each @NAME@ replaced."""
        # As it is: reading as text would make every line end alike.
        text = self.file.read_bytes().decode()
        for name, value in replacements.items():
            assert f"@{name}@" in text
            text = text.replace(f"@{name}@", value)
        return text


def attack_folders() -> list[Path]:
    """In the order of their numbers."""
    return sorted(path.parent for path in FOLDER.glob("*/attack.toml"))


def attempts() -> list[Attempt]:
    """Every submission of every attack."""
    return [attempt for folder in attack_folders() for attempt in _attempts(folder)]


def attempt_named(name: str) -> Attempt:
    """E.g. of 28_residue/looks_for_marks."""
    return next(attempt for attempt in attempts() if attempt.name == name)


def title_of(folder: Path) -> str:
    """The attack in a few words."""
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
