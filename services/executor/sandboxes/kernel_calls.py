"""System calls that Python's library lacks; each raises OSError as `os` functions do."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from contextlib import suppress
from enum import IntEnum

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_OVERRIDE = 1
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY, _MS_REMOUNT = 0x1, 0x20
_LAST_CAPABILITY = 63
# From glibc's malloc.h; 32 MiB is its maximum on 64-bit machines.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX, _MOST_MMAP_THRESHOLD_BYTES = -1, -3, -8, 32 << 20

FREED_BYTES_KEPT = 256 << 20
"""Freed memory that a process keeps if it computes with numpy."""


class Call(IntEnum):
    """Numbers of calls that some C libraries lack; only pivot_root's differs between machines."""

    MOUNT_SETATTR = 442
    LANDLOCK_CREATE_RULESET = 444
    LANDLOCK_ADD_RULE = 445
    LANDLOCK_RESTRICT_SELF = 446
    PIVOT_ROOT = 155 if os.uname().machine == "x86_64" else 41


_C = ctypes.CDLL(None, use_errno=True)


def call(number: Call, *arguments: int | bytes | None) -> int:
    """Make a raw system call."""
    words = [ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word) for word in arguments]
    return _checked(_C.syscall(ctypes.c_long(number), *words))


def prctl(option: int, argument: int) -> None:
    """Change one property of this process."""
    zero = ctypes.c_ulong(0)
    _checked(_C.prctl(option, ctypes.c_ulong(argument), zero, zero, zero))


def keep_freed_memory(most_bytes: int) -> None:
    """Make this process reuse up to `most_bytes` of memory that it freed, instead of returning it to the kernel.

    The kernel fills each new page with zeros, which takes longer than most numpy operations on it. All threads share
    one arena, so memory that one has freed serves the others and counts once. C libraries other than glibc are not
    changed.
    """
    with suppress(AttributeError):
        _C.mallopt(_M_ARENA_MAX, 1)
        _C.mallopt(_M_TRIM_THRESHOLD, most_bytes)
        _C.mallopt(_M_MMAP_THRESHOLD, _MOST_MMAP_THRESHOLD_BYTES)


def die_with(parent_pid: int) -> None:
    """Die with our parent, `parent_pid`; at once if it has already ended."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)


def unshare(flags: int) -> None:
    """Replace namespaces of this process by new ones."""
    _checked(_C.unshare(flags))


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount `source` at `target` in our mount namespace."""
    words = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _checked(_C.mount(*words), source)


def set_mount_attributes(path: str, attributes: int, *, recursive: bool) -> None:
    """Add attributes (MOUNT_ATTR_…) to a mount, and if `recursive` to those below it; Linux 5.12."""
    request = struct.pack("=QQQQ", attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    call(Call.MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, request, len(request))


def remount_writable(path: str) -> None:
    """Make a read-only mount writable; raises OSError if we may not."""
    if not os.statvfs(path).f_flag & os.ST_RDONLY:
        return
    request = struct.pack("=QQQQ", 0, _MOUNT_ATTR_RDONLY, 0, 0)
    call(Call.MOUNT_SETATTR, _AT_FDCWD, path.encode(), 0, request, len(request))
    # If it is still read-only, the file system itself is, as a container's control groups of version 2 are.
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        mount("none", path, "", _MS_REMOUNT)


def enter_root(folder: str) -> None:
    """Make `folder`, a mount, the root of this mount namespace and detach the old one."""
    os.chdir(folder)
    call(Call.PIVOT_ROOT, b".", b".")
    _checked(_C.umount2(b".", _MNT_DETACH))
    os.chdir("/")


def drop_bounding_capabilities(keep: int | None = None) -> None:
    """Drop all capabilities except `keep` for good; a kernel that lacks some capability numbers is fine."""
    for capability in range(_LAST_CAPABILITY + 1):
        if capability == keep:
            continue
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return


def keep_only_capability(capability: int | None) -> None:
    """Hold only `capability`, here and in the programs that this process becomes; None means none at all."""
    mask = 0 if capability is None else 1 << capability
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_C.capset(header, struct.pack("=6I", mask, mask, mask, 0, 0, 0)))
    if capability is not None:
        zero = ctypes.c_ulong(0)
        words = (ctypes.c_ulong(_PR_CAP_AMBIENT_RAISE), ctypes.c_ulong(capability), zero, zero)
        _checked(_C.prctl(_PR_CAP_AMBIENT, *words))


def load_seccomp(program: bytes) -> None:
    """Filter this process's system calls from now on; needs PR_SET_NO_NEW_PRIVS."""
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    _checked(_C.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.c_char_p(header)))


def _checked(result: int, path: str | None = None) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result
