from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.run_queue import RunQueue, waited_ns

BUSY = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
DEADLINE_SECONDS = 60
waits = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 10**12))


def test_two_that_want_one_processor_wait_for_it() -> None:
    core = str(min(os.sched_getaffinity(0)))
    with ExitStack() as cleanup:
        rivals = [subprocess.Popen([sys.executable, "-c", BUSY, core]) for _ in range(2)]
        for rival in rivals:
            cleanup.callback(rival.wait)
            cleanup.callback(rival.kill)
        queue = RunQueue(rivals[0].pid)
        first, deadline = queue.waits_ns(), time.monotonic() + DEADLINE_SECONDS
        while waited_ns(first, queue.waits_ns()) < 50e6:
            assert time.monotonic() < deadline


def test_who_asks_is_counted_too() -> None:
    assert set(RunQueue(os.getpid()).waits_ns()) > {"thread-self", str(os.getpid())}


def test_a_process_that_nobody_sees_has_not_waited() -> None:
    assert set(RunQueue(0).waits_ns()) == {"thread-self"}


@given(waits, waits)
def test_nothing_waits_for_less_than_no_time(begun: dict[str, int], more: dict[str, int]) -> None:
    later = {thread: begun.get(thread, 0) + more.get(thread, 0) for thread in begun | more}
    assert waited_ns(begun, later) == sum(more.values())


def test_threads_that_ended_take_nothing_back() -> None:
    assert waited_ns({"old": 70, "kept": 10}, {"kept": 15, "new": 2}) == 7
