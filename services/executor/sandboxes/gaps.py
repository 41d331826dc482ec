"""The gaps of a sandbox, found from the holds that its machine gave; pure."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from services.executor.sandboxes.launch_order import Hold


class Gap(StrEnum):
    """Something that a sandbox does not hold back, as a sentence for logs and reports."""

    FILES = "a sandbox reads and writes every file that its user may"
    NETWORK = "a sandbox can use the network"
    SOCKETS = (
        "a sandbox can connect to local sockets that its user may, such as those of a message bus or a Docker engine"
    )
    SIGNALS = "a sandbox can send signals to other processes of its user"
    PROCESS_LIST = "a sandbox sees the command lines of other processes"
    PROCESS_COUNT = (
        "other processes of its user count against a sandbox's limit: one that starts many leaves others none"
    )
    MEMORY = (
        "memory is read every 30 ms and not limited by the kernel: a sandbox can use more for that long, and what it "
        "keeps in pipes, in sockets, or in memory files that none of its processes shows open is not counted"
    )
    CPU = "a sandbox can fill all processors of this machine: the kernel does not limit it to its cores"
    SYSTEM_CALLS = "system calls are not filtered"


def gaps_of(held: Collection[Hold], *, memory_limited: bool, cpu_limited: bool) -> tuple[Gap, ...]:
    """Return the gaps that `held` leaves open."""
    private_root = Hold.PRIVATE_ROOT in held
    namespaces = Hold.NAMESPACES in held
    closed = {
        Gap.FILES: private_root or Hold.LANDLOCK in held,
        Gap.NETWORK: namespaces or Hold.SECCOMP in held,
        # Landlock has no rule for sockets, and runners need one of their own.
        Gap.SOCKETS: private_root,
        Gap.SIGNALS: namespaces or Hold.LANDLOCK_SIGNALS in held or Hold.OWN_USER in held,
        Gap.PROCESS_LIST: private_root,
        Gap.PROCESS_COUNT: namespaces or Hold.OWN_USER in held,
        Gap.MEMORY: memory_limited,
        Gap.CPU: cpu_limited,
        Gap.SYSTEM_CALLS: Hold.SECCOMP in held,
    }
    return tuple(gap for gap, is_closed in closed.items() if not is_closed)


def shows_all_nodes(gaps: Collection[str]) -> bool:
    """Return True if a sandbox with these gaps sees all of the machine's /dev, but can open only its own nodes."""
    return Gap.SOCKETS in gaps and Gap.FILES not in gaps
