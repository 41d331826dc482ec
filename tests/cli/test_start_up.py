"""What the command imports before it does anything: people wait for it at every `connect`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from typer.core import TyperGroup

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


def test_every_command_is_in_a_panel_of_the_help_and_a_wrong_one_is_corrected() -> None:
    group = typer.main.get_command(main.app)
    assert isinstance(group, TyperGroup)
    names = group.list_commands(None)
    assert {"up", "doctor", "core", *(name for entries in main.PANELS.values() for name in entries)} <= set(names)
    panels = {name: getattr(group.get_command(None, name), "rich_help_panel", None) for name in names}
    assert {name: panel for name, panel in panels.items() if panel not in main.PANELS} == {}
    shown = wavepool("--help").out
    assert all(f" {name} " in shown for name in names if name != "ssh-proxy")
    places = [shown.index(f"─ {panel} ─") for panel in main.PANELS]
    assert places == sorted(places)
    wrong = wavepool("conect")
    assert (wrong.status, "connect" in wrong.err) == (2, True)
    assert wavepool("doctor", "--help").status == 0
