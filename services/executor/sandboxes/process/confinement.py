"""Last steps of a process before it becomes the sandboxed program: each gives up a right for good."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import socket
from collections.abc import Collection, Sequence
from typing import NoReturn

from services.executor.sandboxes.kernel_calls import (
    CAP_DAC_OVERRIDE,
    PR_SET_KEEPCAPS,
    PR_SET_NO_NEW_PRIVS,
    drop_bounding_capabilities,
    keep_only_capability,
    load_seccomp,
    prctl,
)
from services.executor.sandboxes.launch_order import GO, Hold, LaunchOrder
from services.executor.sandboxes.process.landlock import SIGNALS_VERSION, landlock_version, restrict_files
from services.executor.sandboxes.process.private_root import SYSTEM_FILES, SYSTEM_FOLDERS, enter_private_root
from services.executor.sandboxes.process.process_count import processes_of_this_user, set_process_limit
from services.executor.sandboxes.seccomp import seccomp_filter

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Python ignores these signals, and its children would too.
_SIGNALS_TO_RESTORE = (signal.SIGPIPE, signal.SIGXFSZ)
_CANNOT_EXECUTE = 127
# A path begins an argument, follows a one-letter option, or follows a separator.
_BEFORE_PATH = r"(^(?:-\w)?|[=:,;<>|&(\s\"'])"


def confine_and_exec(order: LaunchOrder, control: socket.socket, held: list[Hold]) -> NoReturn:
    """Confine this process, report its holds over `control`, wait for the word, and become the program."""
    try:
        _confine(order, held)
        program, *_ = arguments = [seen_inside(word, order.mounts, held) for word in order.arguments]
        environment = {name: seen_inside(value, order.mounts, held) for name, value in order.environment.items()}
        if Hold.PRIVATE_ROOT not in held:
            environment.setdefault("TMPDIR", order.scratch)
        os.chdir(seen_inside(order.workdir, order.mounts, held))
    except Exception as error:  # noqa: BLE001  whatever it is, it must be told and must not run the program
        report(control, {"error": f"{type(error).__name__}: {error}"})
        os._exit(_CANNOT_EXECUTE)
    report(control, {"held": held})
    if os.read(0, len(GO)) != GO:
        os._exit(_CANNOT_EXECUTE)
    os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), 0)
    with contextlib.suppress(OSError):
        os.execvpe(program, arguments, environment)  # noqa: S606  there is no shell in it
    os.write(2, f"{program}: cannot be executed\n".encode())
    os._exit(_CANNOT_EXECUTE)


def report(control: socket.socket, message: dict[str, object]) -> None:
    """Send one line of JSON; the other side may be gone."""
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(message).encode() + b"\n")


def _confine(order: LaunchOrder, held: list[Hold]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (*_SIGNALS_TO_RESTORE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    for path in order.procs_files:
        _enter_cgroup(path)
    _hide_files(order, held)
    _drop_privileges(order, held)
    if order.uid is not None:
        _keep_the_way_open(order, held)
    else:
        # Root that may not change users: without new privileges, the program gets none of its capabilities back.
        keep_only_capability(None)
    if Hold.PRIVATE_ROOT not in held:
        for source, _, _ in order.mounts:
            os.stat(source)  # noqa: PTH116  raises for a mount that is missing, before the program misses it
        _restrict_files(order, held)
    program = seccomp_filter(internet=Hold.NAMESPACES in held)
    if program is not None and Hold.SECCOMP not in order.forgo:
        load_seccomp(program)
        held.append(Hold.SECCOMP)


def _enter_cgroup(path: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123  one write(2), as the kernel wants it
        file.write("0")


def _hide_files(order: LaunchOrder, held: list[Hold]) -> None:
    if Hold.NAMESPACES not in held or Hold.PRIVATE_ROOT in order.forgo:
        return
    try:
        enter_private_root(order)
    except PermissionError:
        return  # a container that hides parts of /proc lets nobody mount a new one
    held.append(Hold.PRIVATE_ROOT)


def _drop_privileges(order: LaunchOrder, held: list[Hold]) -> None:
    for which, soft, hard in order.resources:
        resource.setrlimit(which, (soft, hard))
    processes = order.processes
    if order.uid is not None:
        prctl(PR_SET_KEEPCAPS, 1)
        drop_bounding_capabilities(keep=CAP_DAC_OVERRIDE)
        os.setgroups(order.groups)
        os.setresgid(order.uid, order.uid, order.uid)
        os.setresuid(order.uid, order.uid, order.uid)
        held.append(Hold.OWN_USER)
    elif Hold.NAMESPACES not in held:
        # The user's other processes count too, present and future: `Gap.PROCESS_COUNT`.
        processes += processes_of_this_user()
    set_process_limit(processes)
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def _keep_the_way_open(order: LaunchOrder, held: list[Hold]) -> None:
    """Give up root's last capability, unless the sandbox's user needs it to reach its mounts.

    A sandbox without its own root walks the host's folders to its mounts as its own user, and if we are root some of
    them (`/root`) may be closed to it. If Landlock restricts it to its mounts anyway, it may keep the capability to
    walk through closed folders.
    """
    closed = [] if Hold.PRIVATE_ROOT in held else _out_of_reach(order)
    if closed and (Hold.LANDLOCK in order.forgo or not landlock_version()):
        raise PermissionError(
            f"the sandbox's user cannot reach {closed[0]}: open the folders above it with `chmod o+x`, install "
            "bubblewrap, or do not run as root"
        )
    keep_only_capability(CAP_DAC_OVERRIDE if closed else None)


def _out_of_reach(order: LaunchOrder) -> list[str]:
    """Return the mounts that the sandbox's user cannot use, its temporary folder among them."""
    needed = [*((source, writable) for source, _, writable in order.mounts), (order.scratch, True)]
    return [path for path, writable in needed if not os.access(path, os.R_OK | (os.W_OK if writable else 0))]


def _restrict_files(order: LaunchOrder, held: list[Hold]) -> None:
    if Hold.LANDLOCK in order.forgo:
        return
    readable = [*SYSTEM_FOLDERS, *SYSTEM_FILES, "/proc", "/sys/devices/system/cpu"]
    readable += [source for source, _, _ in order.mounts]
    writable = [source for source, _, writable in order.mounts if writable]
    version = restrict_files(readable, [*writable, order.scratch, *_DEVICES, *order.devices])
    if version:
        held.append(Hold.LANDLOCK)
    if version >= SIGNALS_VERSION:
        held.append(Hold.LANDLOCK_SIGNALS)


def seen_inside(text: str, mounts: Sequence[tuple[str, str, bool]], held: Collection[Hold]) -> str:
    """Replace targets of mounts in `text` by their sources, unless the sandbox has its own root."""
    sources = {target: source for source, target, _ in mounts}
    if Hold.PRIVATE_ROOT in held or not sources:
        return text
    longest_first = "|".join(re.escape(target) for target in sorted(sources, key=len, reverse=True))
    return re.sub(rf"{_BEFORE_PATH}({longest_first})(?![\w.-])", lambda match: match[1] + sources[match[2]], text)
