"""What the command asks people: on a real pseudo-terminal, as a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, ScriptedGateway, Stream
from tests.cli.reservation_scenes import (
    ACTIVE,
    AVAILABILITY,
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

RESERVE = ("reserve", "-h", "0.5", "-g", "1", "-t", "MI300X")
WAITS = [{"gpu_count": 1, "eta_p50": 0.0}, {"gpu_count": 8, "eta_p50": 60.0}]
TYPES = [
    {"gpu_type": "MI210", "free_gpus": 0, "price_per_gpu_hour": 0.5, "waits": WAITS},
    {"gpu_type": "MI300X", "free_gpus": 5, "price_per_gpu_hour": 1.99, "waits": WAITS},
]


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
    run = terminal(*RESERVE)
    assert run.ended() == 7
    assert "ssh to wp-aaaaaaaa" in run.shown


def test_reserve_does_not_connect_if_it_is_not_to(terminal: Callable[..., Terminal]) -> None:
    for option in ("--no-connect", "--json"):
        run = terminal(*RESERVE, option)
        assert run.ended() == 0
        assert "ssh to" not in run.shown


LOST = '{"is_lost": true, "may_return": true}'
AWAY = '{"may_return": true}'


def ssh_that_ends(tmp_path: Path, *ends: tuple[int, str]) -> Path:
    """An ssh whose runs end one after another with these statuses and notes; gives a file with their last words."""
    asked = tmp_path / "asked"
    cases = [
        f"{number}) printf %s '{note}' >$WAVEPOOL_TUNNEL_NOTE; exit {status};;"
        for number, (status, note) in enumerate(ends)
    ]
    lines = [
        "#!/bin/sh",
        "for word; do :; done",
        f'echo "$word" >>{asked}',
        f"case $(($(wc -l <{asked}) - 1)) in",
        *cases,
        "esac",
    ]
    (tmp_path / "bin" / "ssh").write_text("\n".join(lines))
    return asked


def test_a_shell_comes_back_after_its_connection_was_lost(
    terminal: Callable[..., Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    asked = ssh_that_ends(tmp_path, (255, LOST), (255, AWAY), (7, ""))
    run = terminal("connect", ID)
    assert run.ended() == 7
    assert "Connection lost; reconnecting" in run.shown
    first, *others = (line.split("exec ")[1].split(";")[0] for line in asked.read_text().splitlines())
    assert others == [f"{first} again"] * 2


@pytest.mark.parametrize(
    ("words", "ends", "status", "said"),
    [
        (("--", "make"), [(255, LOST)], 255, "The command is not started again"),
        (("--no-keep",), [(255, LOST)], 255, "Connection lost, and with it the shell"),
        ((), [(255, LOST), (255, '{"text": "it is over"}')], 255, "wavepool: it is over"),
        ((), [(255, AWAY)], 255, "ssh ended with 255"),
    ],
)
def test_what_cannot_come_back_ends_with_a_reason(
    terminal: Callable[..., Terminal],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    ends: list[tuple[int, str]],
    status: int,
    said: str,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    asked = ssh_that_ends(tmp_path, *ends)
    run = terminal("connect", ID, *words)
    assert (run.ended(), said in run.shown) == (status, True), run.shown
    assert len(asked.read_text().splitlines()) == len(ends)


def test_ctrl_c_ends_the_reconnecting(
    terminal: Callable[..., Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    ssh_that_ends(tmp_path, (255, LOST), *[(255, AWAY)] * 50)
    run = terminal("connect", ID)
    run.see("reconnecting")
    run.interrupt()
    assert run.ended() == 130
    assert f"wavepool connect {ID} -- -t /session/keep " in run.shown


@pytest.mark.parametrize(("answer", "host"), [("2", "wp-aaaaaaaa-1"), ("", "wp-aaaaaaaa")])
def test_connect_asks_which_of_several_machines(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway, answer: str, host: str
) -> None:
    nodes = [{"rank": rank, "machine_id": f"mi300x-{rank}", "host_key": ACTIVE["host_key"]} for rank in range(2)]
    gateway.only("GET", ONE, Answer({**ACTIVE, "nodes": nodes}))
    run = terminal("connect", ID)
    run.see("Which machine")
    assert "node 0: mi300x-0" in run.shown
    assert "node 1: mi300x-1" in run.shown
    run.type(answer)
    assert run.ended() == 7
    assert f"ssh to {host}\r\n" in run.shown


def test_connect_asks_nothing_if_it_is_told_the_machine_or_there_is_one(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    nodes = [{"rank": rank, "machine_id": f"mi300x-{rank}", "host_key": ACTIVE["host_key"]} for rank in range(2)]
    for found, words in ((ACTIVE, ()), ({**ACTIVE, "nodes": nodes}, ("--node", "1"))):
        gateway.only("GET", ONE, Answer(found))
        run = terminal("connect", ID, *words)
        assert run.ended() == 7
        assert "Which machine" not in run.shown


@pytest.mark.parametrize("answer", ["y", "n"])
def test_ctrl_c_asks_if_it_is_to_be_cancelled(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway, answer: str
) -> None:
    gateway.only("GET", ONE, Answer(QUEUED))
    gateway.only("GET", f"{ONE}/events", Stream(STORY[:1]))
    gateway.on("POST", f"{ONE}/cancel", Answer({**QUEUED, "state": "cancelled"}, 202))
    run = terminal(*RESERVE)
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
    assert "ssh to wp-bbbbbbbb" in run.shown


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


def answer(run: Terminal, *answers: tuple[str, str]) -> None:
    """Answers questions in their order."""
    for question, text in answers:
        run.see(question)
        run.shown = run.shown[run.shown.index(question) + len(question) :]
        run.type(text)


def test_a_type_in_maintenance_is_not_the_one_that_reserve_proposes(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    closed = {**TYPES[1], "gpu_type": "MI250X", "maintenance": "new firmware"}
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": [closed, *TYPES]}))
    run = terminal("reserve", "--no-connect")
    run.see("Which GPU [3]")


def test_reserve_asks_for_type_number_and_hours_and_shows_the_price_before_it_reserves(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES}))
    run = terminal("reserve", "--no-connect")
    run.see("2  MI300X  5")
    answer(run, ("Which GPU [2]", "9"), ("Which GPU [2]", "mi210"), ("How many GPUs [1]", "3"), ("How many GPUs", "8"))
    run.see("6  8 h (default)")
    answer(run, ("How long [6]", "9"), ("Hours, such as 1.5", "soon"), ("Hours", "1.5"))
    run.see("$0.99 on hold")
    assert gateway.asked("POST", RESERVATIONS) == []
    answer(run, ("Reserve this?", "y"))
    assert run.ended() == 0
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert {name: asked.body[name] for name in ("gpu_type", "gpu_count", "hours")} == {
        "gpu_type": "MI210",
        "gpu_count": 8,
        "hours": 1.5,
    }


def test_each_number_of_gpus_is_offered_with_its_own_wait(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    waits = [{"gpu_count": size, "eta_p50": size * 60.0 if size > 1 else 0.0} for size in (1, 2, 4, 8)]
    dated = {"next_dated_time": "2096-11-26T22:05:00Z", "next_dated_gpus": 8}
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": [{"gpu_type": "MI300X", "waits": waits, **dated}]}))
    run = terminal("reserve", "--no-connect")
    run.see("How many GPUs")
    offered = [line.strip() for line in run.shown.splitlines() if " wait: " in line]
    assert offered == ["1 GPU  wait: now", "2 GPUs  wait: 2 min", "4 GPUs  wait: 4 min", "8 GPUs  wait: 8 min"]


def test_reserve_asks_for_the_disk_of_those_who_have_one_that_is_free(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    disks = [{"name": "used", "state": "in_use"}, {"name": "work", "state": "available", "size_bytes": 1024}]
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES}))
    gateway.on("GET", "/api/v1/disks", Answer({"disks": disks}))
    run = terminal("reserve", "--no-connect")
    answer(run, ("Which GPU", ""), ("How many", ""), ("How long", ""))
    run.see("2  work: empty")
    answer(run, ("Which disk is the home [1]", "2"), ("Reserve this?", ""))
    assert run.ended() == 0
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert asked.body["disk"] == "work"


def test_whoever_has_no_disk_may_make_one_and_is_asked_again_if_its_name_is_refused(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    problem = {"title": "Unprocessable Entity", "errors": [{"field": "name", "message": "'My' has a capital letter"}]}
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES}))
    gateway.on("GET", "/api/v1/disks", Answer({"disks": []}))
    gateway.on("POST", "/api/v1/disks", Answer(problem, 422), Answer({"name": "work", "state": "available"}, 201))
    run = terminal("reserve", "--no-connect")
    answer(run, ("Which GPU", ""), ("How many", ""), ("How long", ""))
    run.see("1  none: an empty home, which is removed at the end")
    answer(run, ("Which disk is the home [1]", "2"), ("The new disk's name", "My"))
    run.see("'My' has a capital letter")
    answer(run, ("Which disk is the home [1]", "2"), ("The new disk's name", "work"), ("Reserve this?", ""))
    assert run.ended() == 0
    assert [asked.body["name"] for asked in gateway.asked("POST", "/api/v1/disks")] == ["My", "work"]
    assert gateway.asked("POST", RESERVATIONS)[0].body["disk"] == "work"


def test_enter_takes_what_is_free_one_gpu_and_eight_hours(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES}))
    run = terminal("reserve", "--no-connect")
    answer(run, ("Which GPU", ""), ("How many", ""), ("How long", ""), ("Reserve this?", ""))
    assert run.ended() == 0
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert (asked.body["gpu_type"], asked.body["gpu_count"], asked.body["hours"]) == ("MI300X", 1, 8.0)


def test_whoever_wants_several_machines_is_offered_their_numbers_of_gpus(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES[1:]}))
    run = terminal("reserve", "-d", "--allow-slow-links", "-h", "1", "--no-connect")
    run.see("16 GPUs: 2 machines of 8")
    run.see("48 GPUs: 6 machines of 8")
    answer(run, ("How many GPUs [16]", "8"))
    run.see("'8' is not valid; choose 16, 24, 32, 40, 48")
    answer(run, ("How many GPUs [16]", "24"), ("Reserve this?", ""))
    assert run.ended() == 0
    assert gateway.asked("POST", RESERVATIONS)[0].body["gpu_count"] == 24


def test_whoever_does_not_agree_reserves_nothing(terminal: Callable[..., Terminal], gateway: ScriptedGateway) -> None:
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": TYPES[1:]}))
    run = terminal("reserve", "-h", "1", "--name", "training")
    run.see("the GPUs are MI300X")
    answer(run, ("How many GPUs", "2"), ("Reserve this?", "n"))
    assert run.ended() == 1
    assert gateway.asked("POST", RESERVATIONS) == []


def test_nothing_is_asked_with_no_interactive(terminal: Callable[..., Terminal], gateway: ScriptedGateway) -> None:
    assert terminal("reserve", "--no-interactive").ended() == 2
    assert terminal("reserve", "--no-interactive", "-h", "1").ended() == 7
    assert gateway.asked("GET", AVAILABILITY) == []


def test_edit_asks_which_one_and_what_is_to_change(terminal: Callable[..., Terminal], gateway: ScriptedGateway) -> None:
    listed(gateway, OTHER, {**ACTIVE, "users": ["ada", "bob"]})
    gateway.on("POST", f"{ONE}/extend", Answer(ACTIVE))
    gateway.on("POST", f"{ONE}/users", Answer(ACTIVE))
    run = terminal("reservations", "edit")
    answer(run, ("Which one", "2"))
    run.see("1  more time")
    answer(run, ("Change of training", "1"))
    run.see("3  4 h")
    answer(run, ("Time to add", "3"))
    assert run.ended() == 0
    assert gateway.asked("POST", f"{ONE}/extend")[0].body == {"hours": 4.0}
    run = terminal("reservations", "edit", "training")
    answer(run, ("Change of", "3"))
    run.see("2  bob")
    answer(run, ("Which user", "2"))
    assert run.ended() == 0
    assert gateway.asked("POST", f"{ONE}/users")[0].body == {"add": [], "remove": ["bob"]}


def test_disks_are_listed_again_and_again_until_ctrl_c(
    terminal: Callable[..., Terminal], gateway: ScriptedGateway
) -> None:
    lists = [Answer({"disks": [{"name": name, "state": "available"}]}) for name in ("work", "other")]
    gateway.on("GET", "/api/v1/disks", *lists)
    run = terminal("disk", "list", "--watch")
    run.see("work")
    run.see("other")
    run.interrupt()
    assert run.ended() == 0


def test_cancel_of_all_shows_what_would_end(terminal: Callable[..., Terminal], gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE, OTHER)
    run = terminal("cancel", "--reservations")
    run.see(OTHER_ID)
    answer(run, ("End these?", "n"))
    assert run.ended() == 1
    assert [request.method for request in gateway.requests] == ["GET", "GET"]
