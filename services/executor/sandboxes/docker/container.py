"""A Docker sandbox as the JSON that the engine's API takes; pure.

The API: https://docs.docker.com/engine/api.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.executor.sandboxes.limits.kernel_limits import kernel_limits
from services.executor.sandboxes.sandbox import Command, Limits, Mount

# Two processes: the first of the pid namespace, whose end ends all others in it, and one that becomes the program when
# it gets the word. The first then waits for a line, so that the kernel's counters can still be read.
_WITNESSED = '(echo && read -r go && exec "$@" </dev/null); s=$?; read -r done; exit $s'
# If we cannot see the processes of a sandbox, its first one ends with the program.
_UNWITNESSED = '(echo && read -r go && exec "$@" </dev/null); exit $?'
_FIRST_PROCESSES = 1
# Threads of the host that a runtime with its own kernel needs for itself.
_RUNTIME_PROCESSES = 512
_MOST_FILES = 20_000
"""Maximum number of files in /tmp and in /dev/shm, each."""
_ULIMIT_NAMES = {
    resource.RLIMIT_CPU: "cpu",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_CORE: "core",
}
_SYSTEM_FOLDERS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM_FILES = ("etc/ld.so.cache", "etc/alternatives")


def container_configuration(command: Command, image: str, user: str, *, witnessed: bool) -> dict[str, object]:
    """Return the configuration of `command`'s container without its HostConfig; `user` is UID:GID."""
    environment = [f"{name}={value}" for name, value in command.environment.items()]
    script = _WITNESSED if witnessed else _UNWITNESSED
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": ["/bin/sh", "-c", script, "sh", "/usr/bin/env", "-i", *environment, *command.arguments],
        "User": user,
        "WorkingDir": str(command.workdir),
        "Hostname": "sandbox",
        "NetworkDisabled": True,
        **dict.fromkeys(("OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"), True),
    }


def host_configuration(
    command: Command, limits: Limits, binds: Sequence[dict[str, object]], groups: Sequence[int], runtime: str | None
) -> dict[str, object]:
    """Return the HostConfig: every hold and limit. `groups` may use the command's devices."""
    memory_bytes = limits.memory_mib << 20
    tmpfs = f"rw,nosuid,nodev,exec,mode=1777,size={limits.file_mib << 20},nr_inodes={_MOST_FILES}"
    spare = _RUNTIME_PROCESSES if runtime else _FIRST_PROCESSES
    return {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "IpcMode": "none",
        "Tmpfs": {"/tmp": tmpfs, "/dev/shm": tmpfs},  # noqa: S108  the sandbox's own
        "Mounts": [*binds, *map(bind, command.mounts)],
        "Devices": [_device(node) for node in command.devices],
        "GroupAdd": [str(group) for group in groups],
        "PidsLimit": limits.processes + spare,
        "Memory": memory_bytes,
        "MemorySwap": memory_bytes,
        "NanoCpus": int(min(limits.cores, os.cpu_count() or 1) * 1e9),
        "Ulimits": _ulimits(limits),
        "LogConfig": {"Type": "none"},
        "RestartPolicy": {"Name": "no"},
        **({"Runtime": runtime} if runtime else {}),
    }


def security_options(profile: Mapping[str, object] | None) -> dict[str, object]:
    """Return HostConfig's security part with the system-call filter; without `profile` the engine's own applies."""
    own = [f"seccomp={json.dumps(profile)}"] if profile else []
    return {"SecurityOpt": ["no-new-privileges:true", *own]}


def bind(mount: Mount) -> dict[str, object]:
    """Return a bind mount. Mounts below its source are left out, as an old engine would make them writable."""
    return {
        "Type": "bind",
        "Source": str(mount.source),
        "Target": str(mount.target),
        "ReadOnly": not mount.writable,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }


def system_folders(root: Path) -> list[Path]:
    """Return the host's programs and libraries, to be mounted read-only for an image that has none."""
    folders = [root / name for name in _SYSTEM_FOLDERS if (root / name).is_dir() and not (root / name).is_symlink()]
    return [*folders, *(root / name for name in _SYSTEM_FILES if (root / name).exists())]


def _device(node: Path) -> dict[str, str]:
    return {"PathOnHost": str(node), "PathInContainer": str(node), "CgroupPermissions": "rw"}


def _ulimits(limits: Limits) -> list[dict[str, object]]:
    return [{"Name": _ULIMIT_NAMES[which], "Soft": soft, "Hard": hard} for which, soft, hard in kernel_limits(limits)]
