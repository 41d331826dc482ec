"""How long threads that could have run waited for a processor, as Linux counts it.

The second field of a task's `schedstat` is its time on the run queue in nanoseconds (kernel documentation,
scheduler/sched-stats.rst). A clock around a call cannot tell that time from work; the kernel can.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PROC = Path("/proc")


@dataclass(frozen=True)
class RunQueue:
    """Of the process `pid`, all its threads, and of the thread that asks."""

    pid: int

    def waits_ns(self) -> dict[str, int]:
        """What each thread has waited since it began; empty where Linux does not tell."""
        return {task.name: waited for task in self._tasks() if (waited := _waited_ns(task)) is not None}

    def _tasks(self) -> Iterable[Path]:
        yield _PROC / "thread-self"
        try:
            yield from (_PROC / str(self.pid) / "task").iterdir()
        except OSError:
            return


def waited_ns(before: Mapping[str, int], after: Mapping[str, int]) -> int:
    """What all threads waited between two looks; those that ended between them are not known any more."""
    return sum(waited - before.get(thread, 0) for thread, waited in after.items())


def _waited_ns(task: Path) -> int | None:
    try:
        return int((task / "schedstat").read_text("ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
