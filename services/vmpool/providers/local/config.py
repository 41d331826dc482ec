"""The configuration of the local provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path


@dataclass(frozen=True)
class LocalConfig:
    """The folder of the machines' files, and the settings of their executors."""

    data_dir: Path
    command: Sequence[str]
    preferred_port: int
    gpu_types: Sequence[str]
    gpu_counts: Sequence[int]
    price_micros_per_hour: int
    start_timeout: timedelta
    orphan_timeout: timedelta
    stop_grace: timedelta
