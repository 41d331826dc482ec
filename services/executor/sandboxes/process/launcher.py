"""Starts one program in the best sandbox that the kernel gives without any package, and ends all its processes.

Theory of operation. The sandbox starts `python -I -S -c …` with one end of a socket pair, and sends a LaunchOrder. The
launcher takes namespaces if it may; its next child is then the first process of the pid namespace, and the end of that
process ends everything inside. If it may not, the launcher itself adopts every orphan below it (PR_SET_CHILD_SUBREAPER)
and kills until no descendant is left. Either way this supervisor outlives the program, reports its wait status, and
ends everything as soon as the socket closes: so the sandbox dies with the process that asked for it, in whatever way
that ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from types import FrameType

from services.executor.sandboxes.kernel_calls import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, die_with, prctl, unshare
from services.executor.sandboxes.launch_order import Hold, LaunchOrder
from services.executor.sandboxes.process.confinement import confine_and_exec, report
from services.executor.sandboxes.process_tree import descendants

# CLONE_NEW{NS,UTS,IPC,PID,NET}
_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
_USER_NAMESPACE = 0x10000000
_UID_INSIDE = 65534
_KILL_INTERVAL_SECONDS = 0.001


def main() -> None:
    """Run the order that comes over the socket; the first argument is the socket's descriptor."""
    with socket.socket(fileno=int(sys.argv[1])) as control:
        control.set_inheritable(False)
        with control.makefile("rb") as lines:
            order = LaunchOrder.decode(lines.readline())
        die_with(order.parent_pid)
        if Hold.NAMESPACES in order.forgo or not _entered_namespaces():
            # If it were killed with its owner, it could not end its descendants; the closed socket tells it to.
            prctl(PR_SET_PDEATHSIG, 0)
            _supervise(order, control, [])
            return
        init = os.fork()
        if init == 0:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            _supervise(order, control, [Hold.NAMESPACES])
            os._exit(0)
    os.waitpid(init, 0)


def _entered_namespaces() -> bool:
    uid, gid = os.geteuid(), os.getegid()
    try:
        unshare(_NAMESPACES if uid == 0 else _NAMESPACES | _USER_NAMESPACE)
    except OSError:
        return False
    if uid != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{_UID_INSIDE} {uid} 1")
        _write("/proc/self/gid_map", f"{_UID_INSIDE} {gid} 1")
    return True


def _supervise(order: LaunchOrder, control: socket.socket, held: list[Hold]) -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wakeups, wakeup_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _wake_up)
    program = os.fork()
    if program == 0:
        confine_and_exec(order, control, held)
    status = _wait_for_end(program, control, wakeups)
    # Reported before the remaining processes are killed, as that may take for ever.
    report(control, {"status": status})
    if Hold.NAMESPACES not in held:
        _kill_descendants(order.uid)


def _wake_up(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; because there is a handler, Python writes to the wake-up descriptor."""


def _wait_for_end(program: int, control: socket.socket, wakeups: int) -> int:
    """Reap until the program ends; returns its status, or SIGKILL if the other side closes the socket."""
    while True:
        ready, _, _ = select.select([control, wakeups], [], [])
        if control in ready:
            return signal.SIGKILL
        with contextlib.suppress(BlockingIOError):
            os.read(wakeups, 4096)
        while (reaped := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if reaped[0] == program:
                return reaped[1]


def _kill_descendants(uid: int | None) -> None:
    """Kill all our descendants, repeatedly, because a process that is being killed may still fork."""
    while True:
        if uid is not None:
            _kill_user(uid)
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(_KILL_INTERVAL_SECONDS)


def _kill_user(uid: int) -> None:
    """Kill all processes of a sandbox's own user in one call, which no fork can escape."""
    killer = os.fork()
    if killer == 0:
        os.setresuid(uid, uid, uid)
        with contextlib.suppress(OSError):
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(killer, 0)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123  one write(2), as the kernel wants it
        file.write(text)
