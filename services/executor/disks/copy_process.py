"""Runs the program that copies homes."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from services.executor.disks import home_copy
from services.executor.disks.disk_store import DiskError

if TYPE_CHECKING:
    from services.executor.disks.disk_store import OnPercent

_LINE_BYTES = 1 << 20
_LAST_WORDS_BYTES = 500


async def run_copy(what: str, on_percent: OnPercent, **order: object) -> dict[str, Any]:
    """Run it; returns its last line. It is killed if the call is cancelled. Raises DiskError."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", home_copy.__name__, what),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    assert process.stdin is not None  # noqa: S101  PIPE was asked for
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    last: dict[str, Any] = {}
    try:
        process.stdin.write(json.dumps(order).encode())
        process.stdin.close()
        async for line in process.stdout:
            last = json.loads(line)
            if "percent" in last:
                on_percent(int(last["percent"]))
        words = await process.stderr.read()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not last or process.returncode:
        said = words[-_LAST_WORDS_BYTES:].decode(errors="replace").strip()
        raise DiskError(f"the copy ended with status {process.returncode}: {said}")
    if "refused" in last:
        raise DiskError(str(last["refused"]))
    return last
