"""Memory files of real processes, each counted once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.executor.sandboxes.limits.memory_use import memory_kib
from services.executor.sandboxes.process_tree import children

FILLED_KIB = 64 << 10
OPEN = f"""
import mmap, os, sys
file = os.memfd_create("kept")
os.ftruncate(file, {FILLED_KIB << 10})
"""
WRITE = f"os.write(file, bytes({FILLED_KIB << 10}))\n"
MAP = f"mapped = mmap.mmap(file, {FILLED_KIB << 10}); mapped[:] = bytes({FILLED_KIB << 10})\n"
KEEP = {
    "open": OPEN + WRITE,
    "open and mapped": OPEN + MAP,
    # A mapping keeps a descriptor of its own.
    "mapped": OPEN + MAP + "os.closerange(3, 64)\n",
    "anonymous": f"import mmap; mapped = mmap.mmap(-1, {FILLED_KIB << 10}); mapped[:] = bytes({FILLED_KIB << 10})\n",
}


@contextmanager
def process(script: str) -> Iterator[int]:
    """A Python process that has run the script and then waits."""
    command = [sys.executable, "-I", "-S", "-c", f"{script}\nprint(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"\n"
        yield running.pid
        running.kill()


@pytest.fixture(scope="module")
def empty_kib() -> int:
    """The memory of a Python process that keeps nothing, in KiB."""
    with process("import mmap, os, sys") as pid:
        return memory_kib([pid])


@pytest.mark.parametrize("how", KEEP)
def test_a_memory_file_counts_once_however_it_is_kept(empty_kib: int, how: str) -> None:
    with process(KEEP[how]) as pid:
        assert memory_kib([pid]) - empty_kib == pytest.approx(FILLED_KIB, abs=FILLED_KIB // 8)


def test_a_file_that_two_processes_have_open_counts_once(empty_kib: int) -> None:
    forking = f"{OPEN}{WRITE}\nif os.fork() == 0: os.read(os.pipe()[0], 1)"
    with process(forking) as pid:
        [child] = children(pid)
        assert memory_kib([pid, child]) - 2 * empty_kib == pytest.approx(FILLED_KIB, abs=FILLED_KIB // 4)
        os.kill(child, 9)


def test_a_process_that_is_gone_fills_nothing() -> None:
    with process("") as pid:
        pass
    assert memory_kib([pid]) == 0
