"""Checks that this host can be a machine of the pool."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.local.keeper import is_free
from services.vmpool.providers.provider import ProviderFinding

MIB = 1024 * 1024
LEAST_DISK_MIB = 512
"""Room for the logs and builds of a day's work."""


def findings_on(config: LocalConfig, least_disk_mib: int = LEAST_DISK_MIB) -> Sequence[ProviderFinding]:
    """Check everything that a local machine needs: a program, a folder for its files, and a port."""
    return [_program(config.command), _folder(config.data_dir.resolve(), least_disk_mib), _port(config.preferred_port)]


def _program(command: Sequence[str]) -> ProviderFinding:
    name = "executor program"
    found = shutil.which(command[0]) if command else None
    if found:
        return ProviderFinding(name, ok=True, message=found)
    remedy = "set VMPOOL_LOCAL_EXECUTOR_COMMAND to a program of this host, or take the setting away"
    said = f"there is no program {command[0]!r}" if command else "no program is set"
    return ProviderFinding(name, ok=False, message=said, remedy=remedy)


def _folder(data_dir: Path, least_disk_mib: int) -> ProviderFinding:
    name = "data folder"
    existing = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        remedy = f"let vmpool's user write to {existing}, or start with another --data-dir"
        return ProviderFinding(name, ok=False, message=f"{existing} cannot be written to", remedy=remedy)
    free_mib = shutil.disk_usage(existing).free // MIB
    remedy = "" if free_mib >= least_disk_mib else f"free at least {least_disk_mib} MiB there"
    return ProviderFinding(name, ok=not remedy, message=f"{free_mib} MiB free for {data_dir}", remedy=remedy)


def _port(preferred_port: int) -> ProviderFinding:
    name = "executor port"
    if preferred_port == 0 or is_free(preferred_port):
        return ProviderFinding(name, ok=True, message=f"{preferred_port or 'any'} is free")
    # Like every machine but the first, the next one takes another port.
    return ProviderFinding(name, ok=True, message=f"{preferred_port} is in use; the next machine takes a free one")
