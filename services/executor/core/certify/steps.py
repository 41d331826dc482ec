"""The steps of `certify`, in the order in which they run; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from services.executor.core.certify.sources import Sources

MINUTE = 60.0


class Section(StrEnum):
    """A part of the report; the first word of a step's id."""

    ENVIRONMENT = "environment"
    SANDBOX = "sandbox"
    DEVICE = "device"
    REFERENCES = "references"
    HONEST = "honest"
    ATTACKS = "attacks"
    SPREAD = "spread"
    INDEPENDENT = "independent"
    OVERHEAD = "overhead"


TITLES = {
    Section.ENVIRONMENT: "Environment",
    Section.SANDBOX: "Sandbox",
    Section.DEVICE: "Device",
    Section.REFERENCES: "References: every problem's own solution is right",
    Section.HONEST: "Honest kernels, written as people write them, are right",
    Section.ATTACKS: "Attacks get the verdict that is documented for this device",
    Section.SPREAD: "Spread and gain: the same kernel submitted again and again",
    Section.INDEPENDENT: "Our times beside those of a program without our code",
    Section.OVERHEAD: "Time of a whole submission, by stage",
}
# Limits of wall time; a step that takes longer hangs. A run's own limits (core/model/limits.py) end it earlier, if the
# driver lets them.
_SECONDS = {
    Section.ENVIRONMENT: 5 * MINUTE,
    Section.SANDBOX: 10 * MINUTE,
    Section.DEVICE: 15 * MINUTE,
    Section.REFERENCES: 30 * MINUTE,
    Section.HONEST: 30 * MINUTE,
    Section.ATTACKS: 30 * MINUTE,
    Section.SPREAD: 60 * MINUTE,
    Section.INDEPENDENT: 60 * MINUTE,
    Section.OVERHEAD: 30 * MINUTE,
}
OPEN_DEVICE, CANARY, RECORDER = "device/open", "device/canary", "environment/recorder"
ENVIRONMENT = ("machine", "processor", "memory", "disk", "compiler", "recorder", "driver")
SANDBOX = ("choice", "devices")
DEVICE = ("open", "canary", "instruments", "sweep")
OVERHEAD = ("first-submission", "next-submission")
TRUE_US = (1.0, 5.0, 20.0, 100.0, 1_000.0, 10_000.0)
"""True times of the kernels of the section `spread`."""
FEWEST_RUNS = 2
INDEPENDENT = ("vector-addition", "matrix-multiplication")


@dataclass(frozen=True)
class Step:
    """One thing to find out. `id` is stable; the step is ended after `seconds` of wall time."""

    id: str
    seconds: float

    @property
    def section(self) -> Section:
        """The section of the report that shows the step."""
        return Section(self.id.partition("/")[0])

    @property
    def needs_device(self) -> bool:
        """True if the step makes no sense when the device cannot be opened."""
        return self.section not in {Section.ENVIRONMENT, Section.SANDBOX} and self.id != OPEN_DEVICE


@dataclass(frozen=True)
class Choice:
    """The wanted steps: those of some sections (all if none is named), at most `sample` of each long section."""

    only: Collection[Section] = ()
    sample: int | None = None

    def picked(self, steps: Sequence[Step]) -> list[Step]:
        """Returns the wanted steps and always the opening of the device, because other steps need it."""
        wanted = [step for step in steps if not self.only or step.section in self.only or step.id == OPEN_DEVICE]
        if self.sample is None:
            return wanted
        kept: list[Step] = []
        for section in Section:
            those = [step for step in wanted if step.section is section]
            kept += _spread_out(those, self.sample) if section in _LONG else those
        return kept


_LONG = frozenset({Section.REFERENCES, Section.HONEST, Section.ATTACKS, Section.SPREAD, Section.INDEPENDENT})


def _spread_out(steps: Sequence[Step], count: int) -> list[Step]:
    """Returns `count` of the steps, at even distances."""
    if len(steps) <= count:
        return list(steps)
    return [steps[(2 * at + 1) * len(steps) // (2 * count)] for at in range(count)]


def all_steps(sources: Sources, *, at_gpu_sizes: bool) -> list[Step]:
    """Returns every step that there is; references run at the sizes of GPUs too if the device is a real one."""
    sizes = ("cpu", "gpu") if at_gpu_sizes else ("cpu",)
    names = {
        Section.ENVIRONMENT: ENVIRONMENT,
        Section.SANDBOX: SANDBOX,
        Section.DEVICE: DEVICE,
        Section.REFERENCES: [f"{slug}/{size}" for size in sizes for slug in sources.references],
        Section.HONEST: sources.honest,
        Section.ATTACKS: sources.attacks,
        Section.SPREAD: [f"{true_us:g}us" for true_us in TRUE_US],
        Section.INDEPENDENT: INDEPENDENT,
        Section.OVERHEAD: OVERHEAD,
    }
    return [Step(f"{section.value}/{name}", _SECONDS[section]) for section, those in names.items() for name in those]


def step_named(name: str) -> Step:
    """Returns the step of an id; raises ValueError if the id has no section."""
    return Step(name, _SECONDS[Section(name.partition("/")[0])])
