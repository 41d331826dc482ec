"""Refuses timing modes that a device cannot do, before anything is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.core.failure import Failure
from services.executor.core.timing_mode import modes_of
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from services.executor.core.timing_mode import TimingMode
    from services.executor.devices.device import DeviceDescription


def require_mode(mode: TimingMode | None, device: DeviceDescription) -> None:
    """Raise Failure, with what to ask for instead, where a device cannot time calls so; None is its own way."""
    possible = modes_of(device)
    if mode is None or mode in possible:
        return
    raise Failure(
        Verdict.TIMING_INVALID,
        f"Device `{device.name}` cannot time calls {mode}: its times are made up, and know of no caches. "
        f"Ask for {' or '.join(possible)}, or leave the timing mode out.",
        reason="timing_mode",
    )
