"""Scheduler, vmpool and gateway are killed at random beside an open session: it goes on, and is charged once."""

from __future__ import annotations

import random
import secrets
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.terminals import Terminal
from tests.end_to_end.test_reservations import RESERVATIONS, Person, ended, sleepers
from tests.end_to_end.wavepool_processes import ROOT, Wavepool, start, until
from vocabulary.money import MICROS_PER_DOLLAR, price_of

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

KILLED = ("scheduler", "vmpool", "gateway")
KILLS = [
    pytest.param(6, marks=pytest.mark.timeout(400)),
    pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
]
PRICE = 1_990_000


def left_running(person: Person, reservation_id: str) -> str:
    """Leaves a process in the session; gives the seconds that it alone sleeps."""
    seconds = f"86399.{secrets.randbelow(10**9)}"
    done = person.run("connect", reservation_id, "--", f"setsid sleep {seconds} >/dev/null 2>&1 &")
    assert done.returncode == 0, done.stderr.decode()
    until(lambda: sleepers(seconds), "the process that was left running")
    return seconds


def shown(wavepool: Wavepool, reservation_id: str) -> dict[str, Any] | None:
    try:
        answer = wavepool.http.get(f"{RESERVATIONS}/{reservation_id}")
    except httpx.TransportError:
        return None
    return answer.json() if answer.is_success else None


@pytest.mark.parametrize("kills", KILLS)
def test_a_session_outlives_everybody_who_brought_it_about_and_is_charged_once(kills: int, tmp_path: Path) -> None:
    chance = random.Random(kills)  # noqa: S311 - it chooses whom to kill
    wavepool = start(tmp_path / "data")
    try:
        person = Person(wavepool, tmp_path / "home")
        reservation_id = person.json("reserve", "-h", "2", "--no-connect")["id"]
        seconds = left_running(person, reservation_id)
        (working,) = sleepers(seconds)
        for number in range(kills):
            wavepool.kill(chance.choice(KILLED))

            def answers(said: str = f"round {number}") -> bool:
                return person.run("connect", reservation_id, "--", f"echo {said}").stdout.decode() == f"{said}\n"

            until(answers, "a shell", 60)
            assert sleepers(seconds) == [working]
            found = until(lambda: shown(wavepool, reservation_id), "the reservation", 60)
            assert found["state"] == "active"
        until(lambda: person.run("cancel", reservation_id, "--yes").returncode == 0, "the end", 60)
        over = ended(wavepool, reservation_id)
        until(lambda: not sleepers(seconds), "the end of all processes")
        charges = [-round(one["amount_usd"] * MICROS_PER_DOLLAR) for one in wavepool.charges(reservation_id)]
        assert sum(charges) == round(over["cost_usd"] * MICROS_PER_DOLLAR)
        lasted = datetime.fromisoformat(over["end_time"]) - datetime.fromisoformat(over["active_at"])
        assert 0 < sum(charges) <= price_of(lasted, PRICE)
        assert sum(charges) >= price_of(lasted - timedelta(seconds=60), PRICE)
    finally:
        wavepool.stop()


@pytest.mark.timeout(200)
@pytest.mark.tmux
def test_a_shell_comes_back_and_a_command_does_not_start_twice_after_vmpool_was_killed(tmp_path: Path) -> None:
    wavepool = start(tmp_path / "data")
    person = Person(wavepool, tmp_path / "home")
    reservation_id = person.json("reserve", "-h", "2", "--no-connect")["id"]
    terminal = Terminal(("connect", reservation_id), {**person.environment, "TERM": "xterm"})
    command = "echo once >>starts; sleep 600"
    words = [sys.executable, "-m", "wavepool_client.main", "connect", reservation_id, "--", command]
    running = subprocess.Popen(words, cwd=ROOT, env=person.environment, stderr=subprocess.PIPE)
    try:
        terminal.see("$ ")
        terminal.ask("number=41; while [ ! -e starts ]; do sleep 0.1; done; echo 'read'y", "ready")
        wavepool.kill("vmpool")
        _, said = running.communicate(timeout=60)
        assert (running.returncode, b"The command is not started again" in said) == (255, True), said
        terminal.see("reconnecting")
        terminal.ask('echo "still $((number + 1)): $(cat starts)"', "still 42: once")
        terminal.ask('sh -c \'trap "sleep 8; echo sav""ed; exit" TERM; echo trap""ped; sleep 600 & wait\'', "trapped")
        person.json("cancel", reservation_id, "--yes")
        terminal.see("This session was ended by request")
        # Longer than the gateway needs to see that nobody can log in any more.
        terminal.see("saved")
        assert terminal.ended() == 255
        assert "your connection ended with it" in terminal.shown
        assert not any(word in terminal.shown + said.decode() for word in ("Stream removed", "Socket closed"))
    finally:
        running.kill()
        running.wait()
        terminal.close()
        wavepool.stop()


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_a_session_ends_on_time_while_nobody_who_brought_it_about_can_move(tmp_path: Path) -> None:
    wavepool = start(tmp_path / "data", SCHEDULER_LEAST_RESERVATION="1")
    try:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", str(30 / 3600), "--no-connect")
        seconds = left_running(person, made["id"])
        frozen = [process for name in KILLED if (process := wavepool.process_of(name))]
        assert len(frozen) == len(KILLED)
        for process in frozen:
            process.send_signal(signal.SIGSTOP)
        try:
            # The grace is two minutes.
            until(lambda: not sleepers(seconds), "the end of all processes", 180)
        finally:
            for process in frozen:
                process.send_signal(signal.SIGCONT)
        over = ended(wavepool, made["id"])
        assert over["state"] == "expired"
        assert round(over["cost_usd"] * MICROS_PER_DOLLAR) == price_of(timedelta(seconds=30), PRICE)
    finally:
        wavepool.stop()
