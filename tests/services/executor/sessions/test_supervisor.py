"""The first program of a session, outside of any sandbox and with other programs in place of sshd."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.sessions.access.sandboxed.supervisor import MESSAGE_BYTES, from_the_top
from services.executor.sessions.access.session_files import SUPERVISOR

SSHD = """#!/bin/sh
[ "$1" = -t ] && exit 0
read -r first
echo "logged $first" >&2
echo "answered $first"
read -r second
"""


class Running:
    """A supervisor that the test gives orders."""

    def __init__(self, folder: Path) -> None:
        sshd = folder / "sshd"
        sshd.write_text(SSHD)
        sshd.chmod(0o755)
        self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(60)
        with inside:
            command = [sys.executable, SUPERVISOR, "config", str(inside.fileno()), folder, sshd]
            self.process = subprocess.Popen(command, pass_fds=[inside.fileno()], start_new_session=True)

    def order(self, descriptor: int | None = None, **order: Any) -> None:
        descriptors = [] if descriptor is None else [descriptor]
        socket.send_fds(self.control, [json.dumps(order).encode()], descriptors)

    def report(self, name: str) -> dict[str, Any]:
        """Reads on to the next report of this name."""
        while True:
            report = json.loads(self.control.recv(MESSAGE_BYTES))
            if report["report"] == name:
                return report

    def connect(self, number: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        with theirs:
            self.order(theirs.fileno(), order="connect", connection=number)
        return ours


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    one = Running(tmp_path)
    assert one.report("ready")
    yield one
    one.control.close()
    assert one.process.wait(60) == 0


def test_each_connection_has_its_own_program_whose_log_is_told_apart(running: Running) -> None:
    with running.connect(1) as first, running.connect(2) as second:
        second.sendall(b"two\n")
        assert second.recv(100) == b"answered two\n"
        assert running.report("log") == {"report": "log", "connection": 2, "line": "logged two"}
        first.sendall(b"one\n")
        assert running.report("log") == {"report": "log", "connection": 1, "line": "logged one"}
    assert {running.report("closed")["connection"] for _ in range(2)} == {1, 2}


def test_many_connections_that_are_ended_while_they_log_do_not_end_the_others(running: Running) -> None:
    with running.connect(1) as kept:
        for number in range(2, 40):
            with running.connect(number) as doomed:
                # Its log line and the order arrive together.
                os.kill(running.process.pid, signal.SIGSTOP)
                doomed.sendall(b"x\n")
                running.order(order="end", number=number, connections=[number], users=[])
                os.kill(running.process.pid, signal.SIGCONT)
                assert running.report("done") == {"report": "done", "number": number, "count": 1}
        kept.sendall(b"still here\n")
        assert kept.recv(100) == b"answered still here\n"


def test_an_order_that_fails_is_reported_and_the_next_is_carried_out(running: Running, tmp_path: Path) -> None:
    running.order(order="unknown")
    assert "AttributeError" in running.report("fault")["text"]

    running.order(order="warn", name="WARN_EXPIRES_IN_5MIN.txt", text="five")
    running.order(order="warn", name="WARN_EXPIRES_IN_0MIN.txt", text="none")
    running.order(order="end", number=1, connections=[9], users=[])
    assert running.report("done")["count"] == 0
    assert [path.name for path in tmp_path.glob("WARN*")] == ["WARN_EXPIRES_IN_0MIN.txt"]


def test_signals_that_people_send_do_not_end_it(running: Running) -> None:
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        running.process.send_signal(number)
    with running.connect(1) as connection:
        connection.sendall(b"hello\n")
        assert connection.recv(100) == b"answered hello\n"


def test_what_it_starts_does_not_ignore_signals(running: Running) -> None:
    with running.connect(1) as connection:
        connection.sendall(b"hello\n")
        connection.recv(100)
        running.report("log")
        [keeper] = _children(running.process.pid)
        [child] = _children(int(keeper))
        os.kill(int(child), signal.SIGHUP)
        assert running.report("closed")["connection"] == 1


@pytest.mark.parametrize(
    ("words", "status", "output"),
    [
        (["sh", "-c", "pwd; echo $MARK; exit 3"], 3, "{folder}/new\nyes\n"),
        (["sh", "-c", "kill -9 $$"], 137, ""),
        (["none-such"], 127, "none-such: "),
        (["/etc/passwd"], 126, "/etc/passwd: "),
        (["nul\0"], 126, "nul"),
    ],
)
def test_the_images_command_is_started_and_its_end_is_told(
    running: Running, tmp_path: Path, words: list[str], status: int, output: str
) -> None:
    log, wanted = tmp_path / "log", tmp_path / "command.json"
    environment = {"PATH": "/usr/bin:/bin", "MARK": "yes"}
    command = {"words": words, "folder": str(tmp_path / "new"), "environment": environment, "output": str(log)}
    wanted.write_text(json.dumps(command))
    running.order(order="run", file=str(wanted))
    assert running.report("command_ended")["status"] == status
    assert log.read_text().startswith(output.format(folder=tmp_path))
    assert log.read_text().endswith(f"*** ended with status {status}\n")
    with running.connect(1) as connection:
        connection.sendall(b"hello\n")
        assert connection.recv(100) == b"answered hello\n"


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.randoms())
def test_whoever_waits_for_a_program_is_asked_to_end_before_that(parents_of: list[int], chance: Random) -> None:
    pids = chance.sample(range(1, 1000), len(parents_of))
    # Each descends from the first, whose parent is outside.
    parents = {pid: pids[parents_of[index] % index] if index else 0 for index, pid in enumerate(pids)}
    asked = set(chance.sample(pids, chance.randint(0, len(pids))))

    order = from_the_top(asked, parents)

    assert sorted(order) == sorted(asked)
    for place, pid in enumerate(order):
        assert parents[pid] not in order[place:]


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
