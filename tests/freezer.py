"""Processes that SIGKILL does not end, like those stuck in a hanging driver: made with the kernel's freezer."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FREEZER = Path("/sys/fs/cgroup/freezer")
_THAW_SECONDS = 20.0


def can_freeze() -> bool:
    """True if the version 1 freezer can be used: with version 2 a killed process dies before it is thawed."""
    return (_FREEZER / "cgroup.procs").exists() and os.access(_FREEZER, os.W_OK) and os.geteuid() == 0


@contextmanager
def frozen(pids: Iterable[int]) -> Iterator[None]:
    """Keeps these processes in state D until the end of the context."""
    group = _FREEZER / f"wavepool-test-{uuid.uuid4().hex[:8]}"
    group.mkdir()
    try:
        for pid in pids:
            (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        _wait_for(group, "FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (_FREEZER / "cgroup.procs").write_text(pid)
        _remove(group)


def _wait_for(group: Path, state: str) -> None:
    deadline = time.monotonic() + _THAW_SECONDS
    while (group / "freezer.state").read_text().strip() != state:
        assert time.monotonic() < deadline, f"the group is not {state} within {_THAW_SECONDS:g} s"


def _remove(group: Path) -> None:
    deadline = time.monotonic() + _THAW_SECONDS
    while True:
        try:
            return group.rmdir()
        except OSError:
            assert time.monotonic() < deadline, "a process that was thawed does not leave its group"
