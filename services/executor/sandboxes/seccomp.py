"""The system-call filter of our sandboxes, as a classic BPF program for the kernel.

Namespaces and a plain user id leave the kernel itself in reach. The filter takes away what no compiler and no kernel
author needs: mounts and new namespaces, looking into other processes, io_uring, bpf, keyrings, modules, clocks, and
sockets of families (vsock, packet) that network namespaces do not restrict. A denied call fails with EPERM and does not
kill, so that programs that merely probe go on. `clone3` hides its flags in memory, which a filter cannot read, so it
answers ENOSYS and C libraries fall back to `clone`.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

# name: (x86_64, aarch64); None if the architecture has no such call
_DENIED_CALLS: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_SOCKET = (41, 198)
_SOCKETPAIR = (53, 199)
_AUDIT_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_NAMESPACE_FLAG_LIST = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_NAMESPACE_FLAGS = sum(_NAMESPACE_FLAG_LIST)
_X32_CALLS = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_OFFSET_CALL, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT = 0, 4, 16

_PROFILE_ARCHITECTURES = {"x86_64": ["SCMP_ARCH_X86_64"], "aarch64": ["SCMP_ARCH_AARCH64"]}
# Linux 6.x knows 46 families (AF_MAX).
_FAMILIES = 64

_LOCAL_FAMILIES = (socket.AF_UNIX,)
_NETWORK_FAMILIES = (socket.AF_INET, socket.AF_INET6)


_DEBUGGING = {"ptrace", "process_vm_readv", "process_vm_writev", "kcmp"}
_BUILDING = {
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "sethostname", "setdomainname"),
    *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
}
_NEW_USERS = 0x10000000
"""CLONE_NEWUSER."""


def seccomp_filter(*, internet: bool, interactive: bool = False, building: bool = False) -> bytes | None:
    """Return the filter as an array of `struct sock_filter`; None for an architecture without known call numbers.

    `internet` permits internet sockets; set it only for sandboxes whose network namespace is empty anyway.
    `interactive` permits what debuggers need, and netlink, which lists the network's interfaces; set it only for
    sandboxes with namespaces of their own and nothing to hide inside. `building` permits mounts and namespaces but for
    those of users, and netlink; set it only for sandboxes whose root owns nothing outside.
    """
    known = _AUDIT_ARCHITECTURES.get(os.uname().machine)
    if known is None:
        return None
    column, architecture = known
    families = (_NETWORK_FAMILIES if internet else ()) + ((socket.AF_NETLINK,) if interactive or building else ())
    allowed = (_DEBUGGING if interactive else set[str]()) | (_BUILDING if building else set[str]())
    flags = _NEW_USERS if building else _NAMESPACE_FLAGS
    return b"".join(
        [
            _step(_LOAD, _OFFSET_ARCHITECTURE),
            _step(_EQUAL, architecture, on_true=1),
            _step(_RETURN, _KILL_PROCESS),
            _step(_LOAD, _OFFSET_CALL),
            _deny(_AT_LEAST, _X32_CALLS, errno.ENOSYS),
            _deny(_EQUAL, _CLONE3[column], errno.ENOSYS),
            *(_deny(_EQUAL, call, errno.EPERM) for call in _denied(column, allowed)),
            _deny_new_namespaces(_CLONE[column], flags),
            _deny_new_namespaces(_DENIED_CALLS["unshare"][column] or 0, flags),
            _deny_other_families(_SOCKETPAIR[column], _LOCAL_FAMILIES),
            _deny_other_families(_SOCKET[column], _LOCAL_FAMILIES + families),
            _step(_RETURN, _ALLOW),
        ]
    )


def seccomp_profile() -> dict[str, object]:
    """Return the filter as JSON for container engines; it permits internet sockets, as their network is empty.

    The format: https://github.com/opencontainers/runtime-spec, "Seccomp".
    """
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": _PROFILE_ARCHITECTURES.get(os.uname().machine, []),
        "syscalls": [
            _refusal(["clone3"], errno.ENOSYS),
            _refusal(sorted(_DENIED_CALLS), errno.EPERM),
            *(
                _refusal(
                    ["clone"], errno.EPERM, {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
                )
                for flag in _NAMESPACE_FLAG_LIST
            ),
            *_other_families("socketpair", _LOCAL_FAMILIES),
            *_other_families("socket", _LOCAL_FAMILIES + _NETWORK_FAMILIES),
        ],
    }


def _denied(column: int, allowed: set[str]) -> list[int]:
    return [call for name, calls in _DENIED_CALLS.items() if name not in allowed and (call := calls[column])]


def _refusal(names: list[str], error: int, *arguments: dict[str, object]) -> dict[str, object]:
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": list(arguments)}


def _other_families(name: str, families: tuple[int, ...]) -> list[dict[str, object]]:
    """Return one rule per refused family, because a rule takes only one comparison of an argument."""
    refused = [family for family in range(_FAMILIES) if family not in families]
    beyond: dict[str, object] = {"index": 0, "value": _FAMILIES, "op": "SCMP_CMP_GE"}
    equal: list[dict[str, object]] = [{"index": 0, "value": family, "op": "SCMP_CMP_EQ"} for family in refused]
    return [_refusal([name], errno.EAFNOSUPPORT, argument) for argument in (*equal, beyond)]


def _step(code: int, value: int, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, on_true, on_false, value)


def _deny(test: int, value: int, error: int) -> bytes:
    return _step(test, value, on_false=1) + _step(_RETURN, _ERRNO | error)


def _deny_new_namespaces(clone: int, flags: int) -> bytes:
    return (
        _step(_EQUAL, clone, on_false=4)
        + _step(_LOAD, _OFFSET_FIRST_ARGUMENT)
        + _deny(_ANY_BIT, flags, errno.EPERM)
        + _step(_RETURN, _ALLOW)
    )


def _deny_other_families(call: int, families: tuple[int, ...]) -> bytes:
    allowed = b"".join(_step(_EQUAL, family, on_false=1) + _step(_RETURN, _ALLOW) for family in families)
    body = _step(_LOAD, _OFFSET_FIRST_ARGUMENT) + allowed + _step(_RETURN, _ERRNO | errno.EAFNOSUPPORT)
    return _step(_EQUAL, call, on_false=len(body) // 8) + body
