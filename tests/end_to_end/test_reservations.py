"""GPUs by the hour on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.cli.terminals import Terminal
from tests.end_to_end.wavepool_processes import ROOT, Wavepool, frames, start, until
from tests.ssh_keys import new_key

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

RESERVATIONS = "/api/v1/reservations"
WITHIN_SECONDS = 10.0
"""The promise is 5 s; the rest is for a busy machine."""
SUPERVISOR = "supervisor"
"""In the command of a session's first program, and of the sandbox around it."""
OVER = {"expired", "cancelled", "failed"}


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool for these tests alone: they look for processes that are left."""
    running = start(tmp_path_factory.mktemp("wavepool"))
    yield running
    running.stop()


class Person:
    """Somebody at a shell, with a home, a key and a token of their own."""

    def __init__(self, wavepool: Wavepool, home: Path) -> None:
        self.wavepool = wavepool
        new_key().keep(home / ".ssh" / "id_ed25519")
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith(("WAVEPOOL_", "SSH_"))},
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "WAVEPOOL_ENDPOINT": wavepool.endpoint,
            "WAVEPOOL_DATA_DIR": str(wavepool.data_dir),
        }

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "wavepool_client.main", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, input=stdin, capture_output=True, check=False, timeout=120
        )

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


@pytest.fixture
def person(wavepool: Wavepool, tmp_path: Path) -> Iterator[Person]:
    """What a failed test has reserved is cancelled, or the next one would wait for the machine."""
    yield Person(wavepool, tmp_path / "home")
    for one in wavepool.http.get(RESERVATIONS).json()["reservations"]:
        if one["state"] not in OVER:
            wavepool.http.post(f"{RESERVATIONS}/{one['id']}/cancel")


def ended(wavepool: Wavepool, reservation_id: str) -> dict[str, Any]:
    def over() -> dict[str, Any] | None:
        found = wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()
        return found if found["state"] in OVER else None

    return until(over, f"the end of {reservation_id}", 90)


def below_executors(wavepool: Wavepool) -> set[psutil.Process]:
    """All that runs below the executors of this Wavepool; sandboxes and sshd among it."""
    found: set[psutil.Process] = set()
    for note in wavepool.data_dir.glob("machines/*/process.json"):
        with suppress(psutil.NoSuchProcess, FileNotFoundError, ValueError):
            executor = psutil.Process(json.loads(note.read_text())["executor_pid"])
            found |= set(executor.children(recursive=True))
    return found


def sleepers(seconds: str) -> list[psutil.Process]:
    """Everybody's processes that sleep for just so long."""
    return [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", seconds]]


def check_bytes(person: Person, name: str) -> None:
    """Sends bytes of all values, more than all buffers on the way hold, by the name and as the only one there is."""
    sent = os.urandom(1 << 20) * 4
    for words in ((name,), ()):
        back = person.run("connect", *words, "--", "cat", stdin=sent)
        assert back.stdout == sent, back.stderr.decode()


def test_a_reservation_gives_a_shell_over_ssh_is_charged_and_leaves_nothing(wavepool: Wavepool, person: Person) -> None:
    made = person.json("reserve", "-h", "0.1", "-n", "training", "--no-connect")
    reservation_id = made["id"]
    assert (made["state"], made["name"], made["login_user"]) == ("active", "training", "dev")

    said = person.run("connect", reservation_id, "--", "echo ok; exit 7")
    assert (said.returncode, said.stdout) == (7, b"ok\n"), said.stderr.decode()

    # What somebody leaves running there, and all else that is there for the session.
    seconds = f"86399.{secrets.randbelow(10**9)}"
    left = person.run("connect", reservation_id, "--", f"setsid sleep {seconds} >/dev/null 2>&1 &")
    assert left.returncode == 0, left.stderr.decode()
    until(lambda: sleepers(seconds), "the process that was left running")
    there = {one for one in below_executors(wavepool) if SUPERVISOR in " ".join(one.cmdline())}
    assert there

    check_bytes(person, "training")

    until(lambda: wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()["last_login_at"], "a login")
    (cancelled,) = person.json("cancel", reservation_id, "--yes")
    assert cancelled["state"] in {"active", "expiring", "cancelled"}
    over = ended(wavepool, reservation_id)
    charged = wavepool.paid_usd(reservation_id)
    assert (over["state"], over["cost_usd"] > 0) == ("cancelled", True)
    assert (over["cost_usd"], over["overhead_usd"] - over["surplus_usd"]) == pytest.approx(
        (charged, over["machine_cost_usd"] - charged)
    )

    with wavepool.http.stream("GET", f"{RESERVATIONS}/{reservation_id}/events") as response:
        events = [frame for frame in frames(response) if frame.event != "heartbeat"]
    names = [frame.event for frame in events]
    assert names[0] == "QUEUED"
    assert {"PREPARING", "STEP", "ACTIVE", "LOGIN", "LOGOUT"} <= set(names)
    assert (names[-1], events[-1].data["final"]) == ("CANCELLED", True)
    assert [int(frame.id) for frame in events] == sorted({int(frame.id) for frame in events})

    refused = person.run("connect", reservation_id, "--", "true")
    assert (refused.returncode, b"does not accept logins" in refused.stderr) == (2, True)
    assert not sleepers(seconds)
    until(lambda: not [one for one in there if one.is_running()], "the end of all its processes")


@pytest.mark.rsync
def test_plain_ssh_scp_and_rsync_reach_it_by_its_host_and_its_name(
    wavepool: Wavepool, person: Person, tmp_path: Path
) -> None:
    assert person.run("config", "ssh-include", "enable").returncode == 0
    made = person.json("reserve", "-h", "0.1", "-n", "by-name", "--no-connect")
    host = f"wp-{made['id'][-8:].lower()}"
    # OpenSSH takes the home from the system's users, not from $HOME.
    config = ("-F", tmp_path / "home" / ".ssh" / "config")

    def done(*command: str | Path) -> bytes:
        return subprocess.run(command, env=person.environment, check=True, capture_output=True, timeout=60).stdout

    assert done("ssh", *config, host, "hostname") == f"{host}\n".encode()
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "bytes").write_bytes(os.urandom(1 << 16))
    done("scp", *config, tmp_path / "sent" / "bytes", "by-name:copied")
    done("rsync", "-a", "-e", f"ssh -F {config[1]}", f"{host}:copied", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == (tmp_path / "sent" / "bytes").read_bytes()

    person.json("cancel", "by-name", "--yes")
    ended(wavepool, made["id"])
    person.run("reservations")
    assert list((tmp_path / "home" / ".config" / "wavepool" / "ssh").glob("*.conf")) == []


def test_run_takes_a_folder_there_and_back_has_the_exit_status_and_gives_the_gpus_back(
    wavepool: Wavepool, person: Person, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "input").write_text("41")
    run = person.run("run", "--dir", str(project), "-h", "0.1", "--", "echo $(($(cat input) + 1)) | tee output; exit 7")
    assert (run.returncode, run.stdout) == (7, b"42\n"), run.stderr.decode()
    assert (project / "output").read_text() == "42\n"
    found = person.json("reservations", "--status", "all")
    assert ended(wavepool, found[0]["id"])["state"] == "cancelled"


def test_ctrl_c_ends_a_run_and_its_command(wavepool: Wavepool, person: Person) -> None:
    seconds = f"86398.{secrets.randbelow(10**9)}"
    words = [sys.executable, "-m", "wavepool_client.main", "run", "--keep-alive", "-h", "0.1", "--"]
    with subprocess.Popen(
        [*words, f"echo in; sleep {seconds}"], cwd=ROOT, env=person.environment, stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"in\n"
        until(lambda: sleepers(seconds), "the command")
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
    assert not sleepers(seconds)
    found = person.json("reservations", "--status", "all")
    assert ended(wavepool, found[0]["id"])["state"] == "cancelled"


@contextmanager
def shown(person: Person, *words: str) -> Iterator[str]:
    """A command that shows a web program of the session, and where it does; Ctrl-C ends it well."""
    command = [sys.executable, "-m", "wavepool_client.main", *words, "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=ROOT, env=person.environment, stdout=subprocess.PIPE) as showing:
        assert showing.stdout is not None
        yield json.loads(showing.stdout.readline())["url"]
        showing.send_signal(signal.SIGINT)
        assert showing.wait(60) == 0


# A package index is not ours, and a busy machine is slow to unpack JupyterLab.
@pytest.mark.timeout(300)
def test_web_programs_of_a_session_are_seen_here_alone_and_end_with_their_command(
    wavepool: Wavepool, person: Person
) -> None:
    made = person.json("reserve", "-h", "0.2", "--no-connect")
    serve = "echo hello >index.html; setsid python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &"
    assert person.run("connect", "--", serve).returncode == 0
    with shown(person, "forward", "8000") as url:
        until(lambda: httpx.get(url).text == "hello\n", "the page")
    # From PyPI, as a person does.
    with shown(person, "jupyter", "--install") as url:
        address, token = url.split("/lab?token=")
        assert httpx.get(f"{address}/api/contents").status_code == 403
        listed = httpx.get(f"{address}/api/contents", params={"token": token}).json()
        assert "index.html" in [one["name"] for one in listed["content"]]
        assert person.run("connect", "--", "pgrep -f [j]upyter-lab").returncode == 0
    assert person.run("connect", "--", "pgrep -f [j]upyter-lab").returncode == 1
    assert person.run("tensorboard").returncode == 2
    person.json("cancel", made["id"], "--yes")
    ended(wavepool, made["id"])


def test_reserve_gives_a_shell_on_a_terminal(wavepool: Wavepool, person: Person) -> None:
    terminal = Terminal(
        ("reserve", "-h", "0.1", "-n", "shell", "--no-interactive"), {**person.environment, "TERM": "dumb"}
    )
    try:
        terminal.see("/h, ")
        terminal.see("$ ")
        terminal.type("tty && echo I am $WAVEPOOL_USER; exit 5")
        assert terminal.ended() == 5
        assert "/dev/pts/" in terminal.shown
        assert f"I am {person.json('reservations', 'show', 'shell')['owner']}" in terminal.shown
    finally:
        terminal.close()
    reservation_id = person.json("cancel", "shell", "--yes")[0]["id"]
    ended(wavepool, reservation_id)


def test_a_revoked_token_ends_its_connections(wavepool: Wavepool, person: Person) -> None:
    token = wavepool.http.post("/api/v1/tokens", json={"name": "laptop"}).json()
    reservation_id = person.json("reserve", "-h", "0.1", "--no-connect")["id"]
    command = [sys.executable, "-m", "wavepool_client.main", "connect", reservation_id, "--", "echo in; sleep 600"]
    shell = subprocess.Popen(
        command,
        cwd=ROOT,
        env=person.environment | {"WAVEPOOL_TOKEN": token["token"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert shell.stdout is not None
    assert shell.stdout.readline() == b"in\n"

    assert wavepool.http.delete(f"/api/v1/tokens/{token['id']}").is_success
    began = time.monotonic()
    _, said = shell.communicate(timeout=60)

    assert shell.returncode == 255
    assert b"wavepool: The API token no longer works" in said
    assert time.monotonic() - began < WITHIN_SECONDS
    person.json("cancel", reservation_id, "--yes")
    ended(wavepool, reservation_id)


def test_a_colleague_is_let_in_and_out_and_the_time_is_extended(
    wavepool: Wavepool, person: Person, tmp_path: Path
) -> None:
    colleague = Person(wavepool, tmp_path / "colleague")
    key = tmp_path / "colleague" / ".ssh" / "id_ed25519.pub"
    reservation_id = person.json("reserve", "-h", "0.1", "--no-connect")["id"]
    until(lambda: wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()["state"] == "active", "it is active")
    assert colleague.run("connect", reservation_id, "--", "true").returncode == 255

    shared = person.json("reservations", "edit", reservation_id, "--add-user", f"bob={key}")
    assert "bob" in shared["users"]
    said = colleague.run("connect", reservation_id, "--", "echo $WAVEPOOL_USER")
    assert (said.returncode, said.stdout) == (0, b"bob\n"), said.stderr.decode()

    open_shell = subprocess.Popen(
        [sys.executable, "-m", "wavepool_client.main", "connect", reservation_id, "--", "echo in; sleep 600"],
        cwd=ROOT,
        env=colleague.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert open_shell.stdout is not None
    assert open_shell.stdout.readline() == b"in\n"
    left = person.json("reservations", "edit", reservation_id, "--remove-user", "bob")
    assert "bob" not in left["users"]
    open_shell.communicate(timeout=60)
    assert open_shell.returncode == 255
    assert colleague.run("connect", reservation_id, "--", "true").returncode == 255

    extended = person.json("extend", reservation_id, "0.5")
    assert [one["hours"] for one in extended["extensions"]] == [0.5]
    person.json("cancel", reservation_id, "--yes")
    ended(wavepool, reservation_id)
