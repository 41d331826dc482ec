"""Says when to retry a step that failed at the provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.vmpool.machines.machine import MachineState
from vocabulary.backoff import Backoff

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=30)
"""A machine that is not released yet may cost money, so it is not left alone for longer."""


@dataclass(frozen=True)
class _Failed:
    state: MachineState
    count: int
    time: datetime


@dataclass
class StepPauses:
    """Counts, by machine, the failures in a row of its present step. A new state begins at zero. Kept in memory."""

    _failed: dict[str, _Failed] = field(default_factory=dict[str, _Failed])

    def is_over(self, machine_id: str, state: MachineState, now: datetime) -> bool:
        """True if the machine's step may be taken now."""
        failed = self._failed.get(machine_id)
        if failed is None or failed.state is not state:
            return True
        pause = Backoff(FIRST_PAUSE, LONGEST_PAUSE).pause(failed.count)
        # `abs`, because a clock that was set back must not make the pause longer.
        return abs(now - failed.time) >= pause

    def failed(self, machine_id: str, state: MachineState, now: datetime) -> None:
        """Count another failure of the step."""
        last = self._failed.get(machine_id)
        count = last.count + 1 if last and last.state is state else 1
        self._failed[machine_id] = _Failed(state, count, now)

    def forget(self, machine_id: str) -> None:
        """Forget the machine's failures, because the step was taken."""
        self._failed.pop(machine_id, None)
