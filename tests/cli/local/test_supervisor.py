from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from cli.local.program import Program, StartError
from cli.local.supervisor import running
from cli.local.sweep import marked_processes

DEADLINE_SECONDS = 20.0

SERVER = """
import os, signal, sys, time
name, log = sys.argv[1:]
def note(word):
    with open(log, "a") as file:
        file.write(f"{word} {name} {os.getpid()}\\n")
def stop(*_):
    note("stopped")
    sys.exit()
signal.signal(signal.SIGTERM, stop)
note("started")
while True:
    signal.pause()
"""

STUBBORN = SERVER.replace("signal.signal(signal.SIGTERM, stop)", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")

BROKEN = "import sys; sys.exit('no such database')"

REFUSES = "import os, sys; sys.stderr.write('VMPOOL_PORT: is wrong\\n'); sys.exit(os.EX_CONFIG)"

LEAVES_ORPHAN = SERVER.replace(
    'note("started")',
    """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note("orphaned")
        time.sleep(600)
    os._exit(0)
note("started")
""",
)


class Journal:
    """The journal of the stand-in programs: one `word name pid` a line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, word: str) -> list[tuple[str, int]]:
        if not self.path.exists():
            return []
        rows = [line.split() for line in self.path.read_text().splitlines()]
        return [(name, int(pid)) for w, name, pid in rows if w == word]

    def program(self, name: str, code: str = SERVER) -> Program:
        async def is_ready() -> bool:
            return name in dict(self.lines("started"))

        arguments = (sys.executable, "-S", "-c", code, name, str(self.path))
        return Program(name, arguments, "nowhere", self.path.with_name(f"{name}.log"), is_ready)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_killed_program_starts_again_and_people_read_of_it(journal: Journal) -> None:
    reported: list[str] = []
    async with running([journal.program("scheduler")], reported.append, grace_seconds=5) as supervisor:
        await supervisor.wait_until_ready(DEADLINE_SECONDS)
        [(_, first)] = journal.lines("started")
        os.kill(first, signal.SIGKILL)
        await until(lambda: len(journal.lines("started")) > 1)
        assert supervisor.process_id("scheduler") == journal.lines("started")[1][1] != first
    assert reported == ["scheduler died (SIGKILL); starting it again in 0.2 s"]


async def test_programs_stop_in_reverse_order(journal: Journal) -> None:
    names = ["billing", "scheduler", "gateway"]
    async with running([journal.program(name) for name in names], print, grace_seconds=5) as supervisor:
        await supervisor.wait_until_ready(DEADLINE_SECONDS)
    assert [name for name, _ in journal.lines("stopped")] == ["gateway", "scheduler", "billing"]


async def test_a_program_that_ignores_sigterm_is_killed_after_its_grace(journal: Journal) -> None:
    reported: list[str] = []
    async with running([journal.program("stubborn", STUBBORN)], reported.append, grace_seconds=0.1) as supervisor:
        await supervisor.wait_until_ready(DEADLINE_SECONDS)
    [(_, pid)] = journal.lines("started")
    assert not psutil.pid_exists(pid)
    assert reported == ["stubborn did not stop in time and is killed"]


async def test_hurry_cuts_the_grace_short(journal: Journal) -> None:
    async with running([journal.program("stubborn", STUBBORN)], lambda _: None, grace_seconds=600) as supervisor:
        await supervisor.wait_until_ready(DEADLINE_SECONDS)
        supervisor.hurry()
    [(_, pid)] = journal.lines("started")
    assert not psutil.pid_exists(pid)


async def test_a_program_that_keeps_dying_before_it_is_ready_ends_the_start_with_its_log(journal: Journal) -> None:
    with pytest.raises(StartError, match=r"(?s)ended 3 times \(exit status 1\).*no such database"):
        async with running([journal.program("billing", BROKEN)], lambda _: None, grace_seconds=5) as supervisor:
            await supervisor.wait_until_ready(DEADLINE_SECONDS)


async def test_a_program_that_refuses_its_settings_is_not_started_again(journal: Journal) -> None:
    reported: list[str] = []
    refuses = journal.program("vmpool", REFUSES)
    with pytest.raises(StartError, match=r"vmpool refuses its settings; the end of .*:\nVMPOOL_PORT: is wrong$"):
        async with running([refuses], reported.append, grace_seconds=5) as supervisor:
            await supervisor.wait_until_ready(DEADLINE_SECONDS)
    assert (reported, refuses.log.read_text()) == ([], "VMPOOL_PORT: is wrong\n")
    assert refuses.log.stat().st_mode & 0o777 == 0o600


async def test_a_program_that_is_never_ready_ends_the_start(journal: Journal) -> None:
    slow = journal.program("slow", "import time; time.sleep(60)")
    slow.log.write_text("a line of the day before\n")
    with pytest.raises(StartError, match=r"slow was not ready after 0.1 s, and wrote nothing") as raised:
        async with running([slow], print, 5) as supervisor:
            await supervisor.wait_until_ready(0.1)
    assert "day before" not in str(raised.value)


async def test_what_a_program_left_behind_is_swept_up_at_the_end(journal: Journal) -> None:
    async with running([journal.program("vmpool", LEAVES_ORPHAN)], print, grace_seconds=5) as supervisor:
        await until(lambda: bool(journal.lines("orphaned")))
        await until(lambda: len(marked_processes(supervisor.mark)) == 2)
    assert marked_processes(supervisor.mark) == []


UP = textwrap.dedent("""
    import asyncio, sys
    from pathlib import Path
    from cli.local.program import Program
    from cli.local.supervisor import running

    async def ready():
        return True

    async def main(journal, code):
        arguments = (sys.executable, "-S", "-c", code, "vmpool", str(journal))
        program = Program("vmpool", arguments, "nowhere", journal.with_name("vmpool.log"), ready)
        async with running([program], print, 5) as supervisor:
            print(supervisor.mark, flush=True)
            await supervisor.wait()

    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
""")


def test_nothing_survives_a_sigkill_of_up_itself(journal: Journal) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", UP, str(journal.path), LEAVES_ORPHAN], stdout=subprocess.PIPE, text=True
    ) as up:
        assert up.stdout is not None
        mark = up.stdout.readline().strip()
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not journal.lines("orphaned") or len(marked_processes(mark)) != 2:
            assert time.monotonic() < deadline
        up.kill()
    while marked_processes(mark):
        assert time.monotonic() < deadline
