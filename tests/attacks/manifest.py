"""What the folders of this one say: each attack, its submissions, and the verdict that each must get."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.executor.core.benchmark_result import Timing
from services.executor.core.job import Mode
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from services.executor.core.events import Finished

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Attempt:
    """One submission of an attack. `reason` and `prints` are regular expressions, the first for the whole reason. Of
    `says`, where it is given, one alternative is in the message.

    ACCEPTED is the verdict of attempts that work honestly beside a trick which must have no effect; what they print
    says that the trick was tried. The limits replace those of the suite where they are given.

    `undisturbed` attempts are judged as on a machine where nothing else runs: by clocks that no busy host excuses.
    Where `sessions_agree`, the sessions must agree as they must on a GPU. `gpu_verdict` is the verdict on a real GPU,
    where the trick is more than its twin on the cpu device. `other_verdict`, with `other_says`, is for an attempt that
    leaves to chance which of two verdicts refuses it: docs/attacks.md says why. `timing` is what must stand beside the
    verdict, on every device; None if it says nothing of the attack.
    """

    attack: int
    file: Path
    verdict: Verdict
    timing: Timing | None = None
    reason: str = ""
    says: tuple[str, ...] = ()
    prints: str = ""
    problem: str = "vector-addition"
    mode: Mode = Mode.CHECK
    call_seconds: float = 0.0
    builder_seconds: float = 0.0
    builder_mib: int = 0
    runner_mib: int = 0
    undisturbed: bool = False
    sessions_agree: bool = False
    gpu_verdict: Verdict | None = None
    other_verdict: Verdict | None = None
    other_says: str = ""

    def has_timing(self, finished: Finished) -> bool:
        """Whether the timing of a finished run is the one that it must have."""
        return self.timing is None or (finished.benchmarked is not None and finished.benchmarked.timing is self.timing)

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
    number = int(folder.name.split("_")[0])
    found: list[Attempt] = []
    for stem, fields in _table(folder)["submission"].items():
        for key in ("verdict", "gpu_verdict", "other_verdict"):
            if key in fields:
                fields[key] = Verdict(fields[key])
        if "timing" in fields:
            fields["timing"] = Timing(fields["timing"])
        says = fields.get("says", [])
        fields["says"] = (says,) if isinstance(says, str) else tuple(says)
        fields["mode"] = Mode(fields.get("mode", Mode.CHECK))
        found.append(Attempt(number, folder / f"{stem}.hip", **fields))
    return found
