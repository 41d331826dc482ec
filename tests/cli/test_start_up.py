"""What the command imports before it does anything: people wait for it at every `connect`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.invocation import wavepool
from tests.ssh_keys import new_key, running_agent
from wavepool_client import main

if TYPE_CHECKING:
    from pathlib import Path


def imported_by(*words: str) -> set[str]:
    """The modules that a command imports when nothing answers it."""
    program = (
        "import sys, atexit; from wavepool_client.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stdout)); sys.argv = ['wavepool', *sys.argv[1:]]; main()"
    )
    command = [sys.executable, "-c", program, *words, "--endpoint", "http://127.0.0.1:9"]
    return set(subprocess.run(command, capture_output=True, text=True, check=False).stdout.split())


@pytest.mark.parametrize("words", [("connect", "--print"), ("reserve", "-h", "1"), ("reservations",)])
def test_reservations_need_nothing_of_submissions_machines_or_services(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    with running_agent(tmp_path / "agent", new_key()):
        found = imported_by(*words)
    assert "wavepool_client.reservation_client" in found
    needless = {"wavepool_client.commands.submissions", "wavepool_client.commands.money", "cryptography", "yaml"}
    needless |= {"grpc", "cli", "servicekit", "websockets", "asyncio", "wavepool_client.verification"}
    assert not found & needless


def test_the_table_has_just_the_commands_that_are_added() -> None:
    for names, add in main.PARTS:
        assert sorted(main.commands_of(add)) == sorted(names)


def test_every_command_is_listed_and_a_wrong_one_is_corrected() -> None:
    listed = wavepool("--help").out
    for names, _ in main.PARTS:
        assert all(f" {name} " in listed for name in names if name != "ssh-proxy")
    assert all(f" {name} " in listed for name in ("up", "doctor", "core"))
    wrong = wavepool("conect")
    assert (wrong.status, "connect" in wrong.err) == (2, True)
    assert wavepool("doctor", "--help").status == 0
