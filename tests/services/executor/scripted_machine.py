"""A device that reports GPUs that do not exist."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from services.executor.devices.inventory import DeviceFacts, GpuFacts


def gpus(count: int, device_count: int = 1) -> tuple[GpuFacts, ...]:
    return tuple(GpuFacts(n, "A Test 3000", f"GPU-{n}", "gfx942", device_count=device_count) for n in range(count))


@dataclass
class ScriptedMachine:
    """`now` holds the next reading: facts, or an error to raise; `gate` blocks readings."""

    now: DeviceFacts | Exception = field(default_factory=DeviceFacts)
    gate: threading.Event | None = None
    readings: int = 0

    def facts(self) -> DeviceFacts:
        self.readings += 1
        if self.gate is not None:
            self.gate.wait(60)
        if isinstance(self.now, Exception):
            raise self.now
        return self.now
