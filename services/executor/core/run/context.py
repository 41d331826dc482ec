"""The context of a run: the device, the sandbox and everything else that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir

from problems.kit.definition import Problem
from services.executor.core.check.case_judge import USUAL_RULE, LargeCaseRule
from services.executor.core.compile.build import Builder
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.forbidden import Rule, rules
from services.executor.core.compile.isa import IsaReporter
from services.executor.core.model.limits import StageLimits
from services.executor.core.sandbox.run_place import RunPlace, open_place
from services.executor.core.timing.stopping import StoppingProfile
from services.executor.devices.device import Device, Inspector
from services.executor.sandboxes.sandbox import Sandbox
from submissions.modes import Mode


@dataclass(frozen=True)
class RunContext:
    """The context of a run; `find_problem` raises for an unknown slug."""

    device: Device
    sandbox: Sandbox
    cache: CompileCache
    find_problem: Callable[[str], Problem]
    limits: StageLimits = field(default_factory=StageLimits)
    large_cases: LargeCaseRule = USUAL_RULE
    profile: StoppingProfile | None = None
    scratch_parent: Path = field(default_factory=lambda: Path(gettempdir()))
    forbidden: tuple[Rule, ...] = field(default_factory=rules)
    inspector: Inspector | None = None
    torch_python: Path | None = None
    """The Python that evaluates problem definitions; None for the default one."""
    properties: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The GPU's answers about its properties (`device_properties.py`); empty before it is asked."""
    place: RunPlace | None = None
    """A prepared place for the next run, if there is one; it is used once."""

    def place_for(self, mode: Mode) -> AbstractAsyncContextManager[RunPlace]:
        """The place of a run: the prepared one, or a new one."""
        return nullcontext(self.place) if self.place else open_place(self, {mode})

    @property
    def builder(self) -> Builder:
        """Compiles submissions, and makes the MI300X report if there is an inspector."""
        reporter = IsaReporter(self.inspector, self.sandbox, self.cache) if self.inspector else None
        return Builder(self.device, self.sandbox, self.cache, self.limits.builder, reporter)
