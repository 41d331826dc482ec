"""`wavepool run` with an ssh that runs commands on this machine, and the real rsync."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from inspect import signature
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest
import time_machine

from tests.cli.conftest import Answer, Stream
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import (
    ACTIVE,
    ID,
    ONE,
    QUEUED,
    RESERVATIONS,
    STORY,
    introduce,
    session_on_this_machine,
)
from wavepool_client.commands import reserve, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway


START = datetime(2096, 11, 26, 8, tzinfo=UTC)


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> Path:
    """The home in the session."""
    introduce(tmp_path, monkeypatch, gateway)
    gateway.on("POST", f"{ONE}/cancel", Answer({**ACTIVE, "state": "expiring"}, 202))
    return session_on_this_machine(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "input").write_text("41\n")
    return folder


def process(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wavepool_client.main", "run", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def cancels(gateway: ScriptedGateway) -> int:
    return len(gateway.asked("POST", f"{ONE}/cancel"))


def test_the_exit_status_is_the_commands_and_the_reservation_is_given_back(gateway: ScriptedGateway) -> None:
    with process("-g", "2", "--", "echo out; echo err >&2; exit 7") as run:
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (7, b"out\n")
    assert b"err\n" in err
    assert cancels(gateway) == 1
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert (asked.body["hours"], asked.body["gpu_count"]) == (1.0, 2)


def test_the_disk_and_the_image_are_asked_for_as_by_reserve(gateway: ScriptedGateway) -> None:
    image = ("--image", "registry.example/rocm:6.2", "--preserve-entrypoint")
    options = ("-h", "2", "--disk", "work", *image, "--no-connect")
    assert wavepool("run", *options[:-1], "--", "true").status == 0
    assert wavepool("reserve", *options).status == 0
    by_run, by_reserve = (asked.body for asked in gateway.asked("POST", RESERVATIONS))
    for body in (by_run, by_reserve):
        assert (body["disk"], body["image"], body["hours"]) == ("work", "registry.example/rocm:6.2", 2.0)
        assert body["preserve_entrypoint"] is True
        assert "start_time" not in body


def test_run_has_all_options_of_reserve_that_say_what_is_reserved() -> None:
    by_reserve, by_run = (set(signature(one).parameters) for one in (reserve.reserve, run.run))
    asking = {"interactive", "wait", "no_connect", "as_json"}
    assert by_reserve - by_run == asking | {"no_persist", "idempotency_key"}


@pytest.mark.parametrize("command", [("reserve", "-h", "1", "--no-connect"), ("run",)])
def test_an_image_that_is_built_is_sent_after_the_quote_which_does_not_have_it(
    gateway: ScriptedGateway, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "Dockerfile").write_text("FROM registry.example/rocm:6.2\n")
    gateway.on("POST", "/api/v1/build-contexts", Answer({"build_digest": "sha256:1"}))
    words = ("--", "true") if command == ("run",) else ()
    options = ("--dockerfile", str(tmp_path), "--preserve-entrypoint", "-n", "mine")
    assert wavepool(*command, *options, *words).status == 0
    posted = [asked.path for asked in gateway.requests if asked.method == "POST"]
    assert posted[:3] == [f"{RESERVATIONS}/quote", "/api/v1/build-contexts", RESERVATIONS]
    [quoted] = gateway.asked("POST", f"{RESERVATIONS}/quote")
    assert {"preserve_entrypoint", "build_digest", "name"}.isdisjoint(quoted.body)
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert asked.body["preserve_entrypoint"] is True
    assert (asked.body["build_digest"], asked.body["name"]) == ("sha256:1", "mine")


def test_the_command_does_not_run_before_a_later_start(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pauses: list[float] = []
    with time_machine.travel(START - timedelta(seconds=75), tick=False) as clock:

        def sleep(seconds: float) -> None:
            assert not (tmp_path / "ran").exists()
            pauses.append(seconds)
            clock.shift(seconds)

        monkeypatch.setattr(run, "time", SimpleNamespace(sleep=sleep))
        done = wavepool("run", "--start", START.isoformat(), "--", f"touch {tmp_path / 'ran'}")
    assert (done.status, pauses, (tmp_path / "ran").exists()) == (0, [30.0, 30.0, 15.0], True)
    assert gateway.asked("POST", RESERVATIONS)


def test_a_computer_that_slept_while_it_waited_for_the_start_runs_the_command_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    with time_machine.travel(START - timedelta(hours=2), tick=False) as clock:

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            clock.move_to(START + timedelta(minutes=1))

        monkeypatch.setattr(run, "time", SimpleNamespace(sleep=sleep))
        assert wavepool("run", "--start", START.isoformat(), "--", "true").status == 0
    assert pauses == [30.0]


def test_the_time_for_waiting_counts_from_a_later_start_on(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def give_up(_client: object, _reservation_id: str, within_seconds: float, **_: object) -> None:
        waits.append(within_seconds)
        raise TimeoutError

    monkeypatch.setattr(run, "show_until_active", give_up)
    assert wavepool("run", "--timeout", "10", "--start", "+2h", "--", "true").status == 3
    assert wavepool("run", "--timeout", "10", "--", "true").status == 3
    later, now = (asked.body for asked in gateway.asked("POST", RESERVATIONS))
    assert 7200 < waits[0] <= 7800
    assert (waits[1], "start_time" in later, "start_time" in now) == (600, True, False)
    assert cancels(gateway) == 2


def test_several_words_are_a_program_with_its_arguments() -> None:
    with process("--", "printf", "%s|", "a b", "$HOME", "it's") as run:
        assert run.communicate(timeout=60)[0] == b"a b|$HOME|it's|"


@pytest.mark.rsync
def test_a_folder_goes_there_and_its_results_come_back(project: Path, session: Path) -> None:
    (project / "newer").write_text("before")
    line = "cat input; echo 42 > output; echo there > newer; touch -d 2001-01-01 newer"
    run = wavepool("run", "--dir", str(project), "--", line)
    assert run.status == 0
    assert (session / "submit-aaaaaaaa" / "output").read_text() == "42\n"
    assert (project / "output").read_text() == "42\n"
    assert (project / "newer").read_text() == "before", "what is newer here is kept"


@pytest.mark.rsync
def test_a_failed_command_has_results_too_and_no_pull_leaves_them(project: Path) -> None:
    for words, came in ((("--no-pull",), False), ((), True)):
        run = wavepool("run", "--dir", str(project), *words, "--", "echo 1 > output; exit 3")
        assert (run.status, (project / "output").exists()) == (3, came)


@pytest.mark.rsync
def test_a_copy_in_part_starts_no_command(project: Path, session: Path, gateway: ScriptedGateway) -> None:
    (session / "submit-aaaaaaaa").mkdir()
    (session / "submit-aaaaaaaa" / "input").mkdir()
    (session / "submit-aaaaaaaa" / "input" / "in the way").touch()
    run = wavepool("run", "--dir", str(project), "--", f"touch {session}/started")
    assert (run.status, "only in part" in run.err) == (3, True)
    assert not (session / "started").exists()
    assert cancels(gateway) == 1


@pytest.mark.rsync
def test_results_in_part_are_said_and_are_no_success(project: Path, gateway: ScriptedGateway) -> None:
    (project / "results").mkdir()
    (project / "results" / "in the way").touch()
    run = wavepool("run", "--dir", str(project), "--", "rm -r results; touch results")
    assert (run.status, "copied back only in part" in run.err) == (3, True)
    assert cancels(gateway) == 1


def test_keep_alive_keeps_it_and_says_how_to_go_on(gateway: ScriptedGateway) -> None:
    run = wavepool("run", "--keep-alive", "--", "true")
    assert (run.status, cancels(gateway)) == (0, 0)
    assert f"wavepool cancel {ID}" in run.err


def test_one_that_is_not_active_in_time_is_cancelled(gateway: ScriptedGateway) -> None:
    gateway.only("GET", ONE, Answer(QUEUED))
    gateway.only("GET", f"{ONE}/events", Stream(STORY[:2]))
    run = wavepool("run", "--timeout", "0", "--", "true")
    assert (run.status, "is not active after 0 minutes" in run.err) == (3, True)
    assert cancels(gateway) == 1


def test_one_that_ends_under_the_command_is_said(gateway: ScriptedGateway) -> None:
    over = {**ACTIVE, "state": "expired", "message": "Its time is up."}
    gateway.only("GET", ONE, Answer(ACTIVE), Answer(over))
    run = wavepool("run", "--", "exit 255")
    assert run.status == 3
    assert "ended while the command ran: it is expired (Its time is up.)" in run.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_command_then_cancels(gateway: ScriptedGateway, session: Path, number: signal.Signals) -> None:
    with process("--", "trap 'echo ended > ended; exit' INT; echo $$; while :; do sleep 1; done") as run:
        assert run.stdout is not None
        there = psutil.Process(int(run.stdout.readline()))
        run.send_signal(number)
        run.communicate(timeout=60)
    assert run.returncode == 130
    assert (session / "ended").read_text() == "ended\n"
    assert not there.is_running()
    assert cancels(gateway) == 1


@pytest.mark.parametrize("words", [(), ("--",), ("--dir", "/nowhere", "--", "true")])
def test_wrong_words_reserve_nothing(gateway: ScriptedGateway, words: tuple[str, ...]) -> None:
    assert wavepool("run", *words).status == 2
    assert gateway.requests == []
