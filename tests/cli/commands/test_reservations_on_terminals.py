"""What the command asks people: on a real pseudo-terminal, as a process of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Answer, Stream
from tests.cli.reservation_scenes import (
    ACTIVE,
    ID,
    ONE,
    OTHER,
    OTHER_ID,
    QUEUED,
    RESERVATIONS,
    STORY,
    introduce,
    listed,
)
from tests.cli.terminals import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: str) -> Terminal:
        opened.append(Terminal(words, os.environ))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    """Somebody whose ssh says where it would go."""
    introduce(tmp_path, monkeypatch, gateway)
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word; do :; done\necho "ssh to $word"\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TERM", "dumb")


def test_reserve_connects_once_it_is_active(terminal: Callable[..., Terminal]) -> None:
    run = terminal("reserve", "-h", "0.5")
    assert run.ended() == 7
    assert "ssh to wp-01kb9x2f" in run.shown


def test_reserve_does_not_connect_if_it_is_not_to(terminal: Callable[..., Terminal]) -> None:
    for option in ("--no-connect", "--json"):
        run = terminal("reserve", "-h", "0.5", option)
        assert run.ended() == 0
        assert "ssh to" not in run.shown


@pytest.mark.parametrize("answer", ["y", "n"])
def test_ctrl_c_asks_if_it_is_to_be_cancelled(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway, answer: str
) -> None:
    gateway.only("GET", ONE, Answer(QUEUED))
    gateway.only("GET", f"{ONE}/events", Stream(STORY[:1]))
    gateway.on("POST", f"{ONE}/cancel", Answer({**QUEUED, "state": "cancelled"}, 202))
    run = terminal("reserve", "-h", "0.5")
    run.see("Waiting for a machine.")
    run.interrupt()
    run.see("Cancel the reservation?")
    run.type(answer)
    assert run.ended() == 130
    assert len(gateway.asked("POST", f"{ONE}/cancel")) == (1 if answer == "y" else 0)
    said = f"cancelled {ID}" if answer == "y" else f"wavepool reservations show {ID} -f"
    assert said in run.shown.replace("\r\n", " ").replace("\n", " ")


def test_several_that_fit_are_picked_from(terminal: Callable[..., Terminal], gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE, OTHER)
    run = terminal("connect")
    run.see("Which one")
    run.type("2")
    assert run.ended() == 7
    assert f"2  {OTHER_ID}" in run.shown
    assert "ssh to wp-01kb9x2f" in run.shown


@pytest.mark.parametrize(("answer", "cancels"), [("y", 1), ("n", 0)])
def test_cancel_asks_first(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway, answer: str, cancels: int
) -> None:
    gateway.on("POST", f"{ONE}/cancel", Answer({**ACTIVE, "state": "expiring"}, 202))
    run = terminal("cancel", ID)
    run.see("End this?")
    run.type(answer)
    assert run.ended() == 1 - cancels
    assert len(gateway.asked("POST", f"{ONE}/cancel")) == cancels
    assert len(gateway.asked("POST", RESERVATIONS)) == 0
