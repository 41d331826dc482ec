"""The configuration of the local provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the executor, in place of what the provider would give it."""
