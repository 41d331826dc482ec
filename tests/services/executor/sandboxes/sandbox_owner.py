"""A program that starts a sandbox around `sleep MARKER` and waits for it; run as `sandbox_owner.py SETTING MARKER`."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Command, Limits, Sandbox

LIMITS = Limits(timedelta(seconds=60), timedelta(seconds=60), 256, processes=16, file_mib=8, output_bytes=4096)


async def own_a_sandbox(setting: str, marker: str) -> None:
    if setting == "process-without-namespaces":
        sandbox: Sandbox = await open_process_sandbox(forgo=[Hold.NAMESPACES])
    else:
        sandbox = await choose_sandbox(setting)
    script = f"(setsid sleep {marker} &); sleep {marker}"
    process = await sandbox.start(Command(["/bin/sh", "-c", script], Path("/")), LIMITS)
    sys.stdout.write("started\n")
    sys.stdout.flush()
    await process.wait()


if __name__ == "__main__":
    asyncio.run(own_a_sandbox(sys.argv[1], sys.argv[2]))
