"""Measures the time of a sandbox to its program's first instruction, started cold and prepared ahead, and to its end.

Each figure is the median of `--sandboxes` (20) sandboxes, beside a bare fork and exec in the same round, on the same
machine; the ratio to that carries over to other machines. Sandboxes run a program that does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import time
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Command, Limits, Sandbox, SandboxError, Stream

PROGRAM = ["/bin/echo", "first"]
LIMITS = Limits(timedelta(seconds=30), timedelta(seconds=10), 512, processes=16, file_mib=16, output_bytes=4096)
KINDS = ("process", "bubblewrap", "docker", "docker:runsc")
COLUMNS = ("sandbox", "cold", "prepared", "making", "end", "cold/bare", "prepared/bare")


def bare_ms() -> float:
    """Milliseconds to fork, exec and get the first output, without a sandbox."""
    begin = time.perf_counter()
    with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None  # noqa: S101  PIPE was asked for
        process.stdout.readline()
        return (time.perf_counter() - begin) * 1e3


class FirstWord:
    """Notices the first output of a sandbox."""

    def __init__(self) -> None:
        self._heard = asyncio.Event()

    def listen(self, _stream: Stream, _piece: bytes) -> None:
        """The callback for the sandbox's output."""
        self._heard.set()

    async def since(self, begin: float) -> float:
        """Milliseconds from `begin` to the first output."""
        await self._heard.wait()
        return (time.perf_counter() - begin) * 1e3


async def cold_ms(sandbox: Sandbox, command: Command) -> float:
    """Milliseconds from the request for a sandbox to the program's first output."""
    word, begin = FirstWord(), time.perf_counter()
    process = await sandbox.start(command, LIMITS, word.listen)
    taken = await word.since(begin)
    await process.wait()
    return taken


async def prepared_ms(sandbox: Sandbox, command: Command) -> tuple[float, float, float]:
    """Milliseconds to prepare the sandbox, from its start to the first output, and from that to its end."""
    begin = time.perf_counter()
    prepared = await sandbox.prepare(command, LIMITS)
    made_ms = (time.perf_counter() - begin) * 1e3
    word, begin = FirstWord(), time.perf_counter()
    process = await prepared.start(word.listen)
    first_ms = await word.since(begin)
    begin = time.perf_counter()
    await process.wait()
    return made_ms, first_ms, (time.perf_counter() - begin) * 1e3


async def measure(kind: str, sandboxes: int) -> str:
    """One row of the table."""
    try:
        sandbox = await choose_sandbox(kind)
    except SandboxError as error:
        return f"| {kind} | not measured: {str(error).splitlines()[0]} |"
    command = Command(PROGRAM, Path("/"))
    bare: list[float] = []
    cold: list[float] = []
    made: list[float] = []
    first: list[float] = []
    end: list[float] = []
    for _ in range(sandboxes):
        bare.append(bare_ms())
        cold.append(await cold_ms(sandbox, command))
        for column, figure in zip((made, first, end), await prepared_ms(sandbox, command), strict=True):
            column.append(figure)
    middle = statistics.median
    figures = [f"{middle(column):.1f} ms" for column in (cold, first, made, end)]
    ratios = [f"{middle(column) / middle(bare):.1f}" for column in (cold, first)]
    return f"| {' | '.join([sandbox.name, *figures, *ratios])} |"


async def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sandboxes", type=int, default=20)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    asked = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for kind in asked.kinds:
        print(await measure(kind, asked.sandboxes), flush=True)
    bare = [bare_ms() for _ in range(asked.sandboxes)]
    print(f"bare fork and exec: {statistics.median(bare):.2f} ms")


if __name__ == "__main__":
    asyncio.run(main())
