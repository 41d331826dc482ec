"""The kernels that `certify` runs: the catalogue's references and, if the tree has them, those of our tests."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[4]
HONEST = ROOT / "tests" / "honest"
_REFUSED = {"nvidia": "refused_by_cuda.toml", "rocm": "refused_by_hip.toml"}
_PROBLEM_MARK = "// problem: "
_ATTACKS, _STAGED = "tests.attacks.manifest", "tests.attacks.staged"


@dataclass(frozen=True)
class Sources:
    """Names of kernels. Those of tests are empty in an installation without a tree of sources."""

    references: Sequence[str]
    honest: Sequence[str]
    attacks: Sequence[str]

    @property
    def missing(self) -> str:
        """The missing kernels, and advice; empty if all are there."""
        if self.honest and self.attacks:
            return ""
        return "this installation has no tests/honest and tests/attacks: run certify in a checkout, or from its kit"


def sources_for(device: str, *, simulated: bool) -> Sources:
    """Returns all kernels for a device; for a simulated one, only the attacks that have a time to forge."""
    references = sorted(path.parent.name for path in ROOT.glob("problems/catalogue/*/solution.hip"))
    honest = sorted(path.stem for path in HONEST.glob("*.hip"))
    return Sources(references, honest, _attack_names(device, simulated=simulated))


def honest_source(name: str) -> tuple[str, str]:
    """Returns a kernel's problem and source; raises OSError."""
    source = (HONEST / f"{name}.hip").read_text("utf-8")
    return source.partition("\n")[0].removeprefix(_PROBLEM_MARK), source


def refused_on(device: str) -> Mapping[str, str]:
    """Returns the honest kernels that the device's compiler refuses, with a part of its message; raises OSError."""
    if device not in _REFUSED:
        return {}
    return tomllib.loads((HONEST / _REFUSED[device]).read_text("utf-8"))


def attack_manifest() -> ModuleType:
    """Returns the manifest of tests/attacks; raises ModuleNotFoundError if the tree has no tests."""
    return importlib.import_module(_ATTACKS)


def staged_attacks() -> Mapping[str, Any]:
    """Returns the attacks that take more than a submission, by name; raises ModuleNotFoundError."""
    return importlib.import_module(_STAGED).STAGED


def _attack_names(device: str, *, simulated: bool) -> Sequence[str]:
    try:
        manifest, staged = attack_manifest(), staged_attacks()
    except ModuleNotFoundError:
        return ()
    known = manifest.DEVICES
    attempts = [one for one in manifest.attempts() if device in known and one.name not in manifest.PARTS_OF_STAGED]
    if simulated:
        return [one.name for one in attempts if one.mode == "benchmark"]
    return sorted([*(one.name for one in attempts), *staged])
