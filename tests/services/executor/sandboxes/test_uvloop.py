"""The executor runs on uvloop, whose closed transports raise errors that asyncio's do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from datetime import timedelta
from pathlib import Path
import uvloop
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Command, Limits

async def main():
    sandbox = await open_process_sandbox([Hold(name) for name in sys.argv[1:]])
    limits = Limits(timedelta(seconds=20), timedelta(seconds=10), 256, 16, 16, 4096)
    process = await sandbox.start(Command(["/bin/echo", "well"], Path("/")), limits)
    print((await process.wait()).stdout.decode(), end="")

uvloop.run(main())
"""


@pytest.mark.parametrize("forgo", [[], ["namespaces"]], ids=["namespaces", "no-namespaces"])
def test_a_plain_sandbox_lives_and_ends_on_uvloop(forgo: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *forgo], capture_output=True, check=False)
    assert (done.stdout, done.returncode) == (b"well\n", 0), done.stderr
