"""Tries a few things in sandboxes and prints the results as JSON; needs no packages. Run it with SETTING."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  the system's Python may be older than ours
    sys.exit(3)

from services.executor.core.model.limits import StageLimits
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Command, Exit, Limits, Mount, Sandbox

LIMITS = Limits(timedelta(seconds=30), timedelta(seconds=20), 96, processes=12, file_mib=8, output_bytes=4096)
MARKER = f"300.{os.getpid()}714285"
FILL = "sh -c 'while :; do sleep 20 & done' 2>/dev/null; : >/build/full; exec sleep 20"
BUILD = "exec sh -c 'echo begun; until [ -e /build/full ]; do :; done; /bin/true && echo started'"
MEMORY_FILE = "my $fd = syscall(319, my $name = q(hidden), 0); open(my $file, q(>&=), $fd) or exit 9; push @f, $file;"
KEEP_IN_FILES = f"exec perl -e 'for (1..30) {{ {MEMORY_FILE} print $file q(x) x 5242880 }} sleep 50'"
PLANT = "for folder in / /dev /usr /etc /var/tmp; do touch $folder/planted && echo $folder; done"


async def run(sandbox: Sandbox, folder: Path, script: str, limits: Limits = LIMITS) -> Exit:
    return await (await sandbox.start(_command(folder, script), limits)).wait()


def _command(folder: Path, script: str) -> Command:
    mounts = [Mount(folder, Path("/build"), writable=True)]
    return Command(["/bin/bash", "-c", script], Path("/build"), mounts, {"PATH": "/usr/bin:/bin"})


async def observe(setting: str, folder: Path) -> dict[str, object]:
    if setting == "process-without-namespaces":
        sandbox: Sandbox = await open_process_sandbox(forgo=[Hold.NAMESPACES])
    else:
        sandbox = await choose_sandbox(setting)
    hog = await run(sandbox, folder, "exec tail /dev/zero")
    files = await run(sandbox, folder, KEEP_IN_FILES)
    loop = await run(sandbox, folder, "while :; do :; done", replace(LIMITS, cpu=timedelta(seconds=0.4)))
    # Without a process namespace the kernel counts all processes of the user, and some of others may end meanwhile.
    forks = await run(sandbox, folder, "exec sh -c 'for i in $(seq 400); do sleep 20 & done'")
    await run(sandbox, folder, f"(setsid sleep {MARKER} >/dev/null 2>&1 &)")
    return {
        "gaps": sandbox.gaps,
        "uid": (await run(sandbox, folder, "id -u")).stdout.decode().strip(),
        "privileges": (await run(sandbox, folder, "grep CapPrm /proc/self/status")).stdout.decode().strip(),
        "host files": (await run(sandbox, folder, "cat /etc/passwd; ls /var /home /work")).stdout.decode(),
        "planted": (await run(sandbox, folder, PLANT)).stdout.decode(),
        "wrote": (await run(sandbox, folder, "echo made >/build/file; cat /build/file; true")).stdout.decode(),
        "hog": "memory_exceeded" if hog.memory_exceeded else repr(hog),
        "memory files": "memory_exceeded" if files.memory_exceeded else repr(files),
        "loop": "cpu_exceeded" if loop.cpu_exceeded else repr(loop),
        "forks": "bounded" if b"fork" in forks.stderr else repr(forks),
        "beside a full sandbox": await beside_a_full_sandbox(sandbox, folder),
        "daemon": "gone" if not any(map(_is_marked, Path("/proc").glob("[0-9]*"))) else "survived",
    }


async def beside_a_full_sandbox(sandbox: Sandbox, folder: Path) -> str:
    """The output of a build that starts a process after a submission's sandbox has filled itself with processes."""
    limits = StageLimits()
    begun = asyncio.Event()
    build = await sandbox.start(_command(folder, BUILD), limits.builder, lambda *_: begun.set())
    # The other's limit is computed when it starts.
    await begun.wait()
    full = await sandbox.start(_command(folder, FILL), limits.runner)
    said = await build.wait()
    await full.kill()
    return (said.stdout + said.stderr).decode().removeprefix("begun\n").strip()


def _is_marked(process: Path) -> bool:
    try:
        return MARKER.encode() in (process / "cmdline").read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    scratch = Path(tempfile.mkdtemp())
    sys.stdout.write(json.dumps(asyncio.run(observe(sys.argv[1], scratch))))
    shutil.rmtree(scratch)
