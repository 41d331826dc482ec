"""Any order of events keeps a session to its table of states, and gives back all that it holds, once."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock
from services.executor.disks.snapshot import DiskError
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.leases.errors import ExecutorError
from services.executor.leases.lease import Lease
from services.executor.runs.admission import EndReason, Place
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.errors import SessionNotReadyError, SilentSessionError, UnknownSessionError
from services.executor.sessions.session import Session, SessionSpec
from services.executor.sessions.session_sandbox import SandboxOrder
from services.executor.sessions.share import Share
from services.executor.sessions.states import LEGAL_MOVES, IllegalMoveError, SessionLife, SessionState
from tests.needs import REPOSITORY
from vocabulary.image_references import image_reference

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLOSED, EXPIRED = session_pb2.SESSION_END_REASON_CLOSED, session_pb2.SESSION_END_REASON_EXPIRED
MOVES: dict[str, Callable[[SessionLife, datetime], object]] = {
    "fetch": lambda life, now: life.fetch(),
    "open": lambda life, now: life.open(),
    "be_ready": lambda life, now: life.be_ready(),
    "ask": lambda life, now: life.ask(EXPIRED, now),
    "kill": lambda life, now: life.kill(CLOSED),
    "shut": lambda life, now: life.shut(),
    "finish": lambda life, now: life.finish(),
}
PATHS = {
    SessionState.RESTORING: [],
    SessionState.FETCHING: ["fetch"],
    SessionState.OPENING: ["open"],
    SessionState.READY: ["open", "be_ready"],
    SessionState.ENDING: ["kill"],
    SessionState.SAVING: ["shut"],
    SessionState.OVER: ["shut", "finish"],
}
"""Moves that lead to each state."""
TARGETS = {
    "fetch": SessionState.FETCHING,
    "open": SessionState.OPENING,
    "be_ready": SessionState.READY,
    "finish": SessionState.OVER,
}


def recorded(life: SessionLife) -> list[SessionState]:
    """The states that a life goes through from now on, in a list that grows."""
    seen, move = [life.state], life._move

    def record(state: SessionState) -> None:
        move(state)
        seen.append(state)

    life._move = record
    return seen


def follows_the_table(seen: list[SessionState]) -> bool:
    return all(after in LEGAL_MOVES[before] for before, after in pairwise(seen))


@pytest.mark.parametrize("state", SessionState)
@pytest.mark.parametrize("name", TARGETS)
async def test_each_move_is_made_where_the_table_has_it_and_nowhere_else(state: SessionState, name: str) -> None:
    life = SessionLife("ses_1")
    for move in PATHS[state]:
        MOVES[move](life, NOW)
    assert life.state is state
    if TARGETS[name] in LEGAL_MOVES[state]:
        MOVES[name](life, NOW)
        assert life.state is TARGETS[name]
    else:
        with pytest.raises(IllegalMoveError, match=f"'ses_1' cannot go from {state} to {TARGETS[name]}"):
            MOVES[name](life, NOW)
        assert life.state is state


@pytest.mark.parametrize("state", SessionState)
async def test_a_session_can_be_ended_in_each_state_and_is_never_begun_again(state: SessionState) -> None:
    life = SessionLife("ses_1")
    for move in PATHS[state]:
        MOVES[move](life, NOW)
    was_ending = life.is_ending
    life.kill(CLOSED, "asked")
    assert life.is_ending
    assert life.killed.is_set()
    assert life.state is (state if was_ending else SessionState.ENDING)


def test_every_state_but_the_last_leads_to_the_last() -> None:
    for state in SessionState:
        reached = {state}
        while more := {after for before in reached for after in LEGAL_MOVES[before]} - reached:
            reached |= more
        assert SessionState.OVER in reached
    assert not LEGAL_MOVES[SessionState.OVER]


def test_the_picture_in_the_documents_is_the_table() -> None:
    text = (REPOSITORY / "docs/states.md").read_text("utf-8").partition("## Sessions (executor)")[2]
    drawn = re.findall(r"^    ([A-Z]+) --> ([A-Z]+)", text.partition("```\n")[0], re.MULTILINE)
    table = {(before.name, after.name) for before, states in LEGAL_MOVES.items() for after in states}
    assert set(drawn) == table


@given(st.lists(st.tuples(st.sampled_from(sorted(MOVES)), st.integers(0, 60)), max_size=15))
def test_any_order_of_moves_follows_the_table(moves: list[tuple[str, int]]) -> None:
    life = SessionLife("ses_1")
    seen = recorded(life)
    for name, seconds in moves:
        reason, kill_time = life.reason, life.kill_time
        with suppress(IllegalMoveError):
            MOVES[name](life, NOW + timedelta(seconds=seconds))
        assert reason is None or life.reason == reason
        assert kill_time is None or (life.kill_time is not None and life.kill_time <= kill_time)
        assert not life.is_open or SessionState.READY in seen
        assert life.is_ending == (SessionState.ENDING in seen)
    assert follows_the_table(seen)


class Held:
    """Counts what was made and what was given back, by kind."""

    def __init__(self) -> None:
        self.made, self.released = Counter[str](), Counter[str]()


class Answers:
    """What the machine answers to a session that waits for it: nothing until the test says what."""

    def __init__(self) -> None:
        self._answers: dict[str, asyncio.Future[object]] = {}

    def give(self, what: str, answer: object) -> None:
        future = self._of(what)
        if not future.done():
            future.set_result(answer)

    async def of(self, what: str) -> None:
        """Waits for an answer, which is an error or none."""
        answer = await asyncio.shield(self._of(what))
        if isinstance(answer, Exception):
            raise answer

    def _of(self, what: str) -> asyncio.Future[object]:
        return self._answers.setdefault(what, asyncio.get_running_loop().create_future())


class ScriptedSandbox:
    """Implements OpenSandbox."""

    host_key, start_time_ns, killed_for_memory = "ssh-ed25519 A", 1, 0

    def __init__(self, answers: Answers, held: Held) -> None:
        self._answers, self._held = answers, held
        self._descriptors: list[int] = []
        held.made["sandbox"] += 1

    def write_keys(self, keys: object) -> None: ...

    def write_end(self, end_time: datetime) -> None:
        assert not self._held.released["sandbox"], "its files are gone"

    def send(self, order: dict[str, object], descriptor: int | None = None) -> None:
        if self._held.released["sandbox"]:
            raise SilentSessionError("ses_1")
        if descriptor is not None:
            self._descriptors.append(os.dup(descriptor))

    async def wait(self) -> str:
        await self._answers.of("end")
        return "the first program has ended"

    async def destroy(self) -> bool:
        self._held.released["sandbox"] += 1
        for descriptor in self._descriptors:
            os.close(descriptor)
        await self._answers.of("destroy")
        return True


class ScriptedHome:
    """What a session needs of a KeptHome."""

    spec, store_id = SimpleNamespace(name="work"), "folder"

    def __init__(self, answers: Answers, held: Held) -> None:
        self._answers, self._held = answers, held
        self.saves_at_the_end: list[bool] = []
        held.made["home"] += 1

    async def restore(self, on_percent: Callable[[int], None]) -> None:
        on_percent(10)
        await self._answers.of("restore")

    def begin(self, time_ns: int) -> None: ...

    def is_due(self, now: datetime) -> bool:
        return False

    def begin_save(self, *_: object) -> None:
        assert not self._held.released["home"], "it is gone"

    async def leave(self, told: object, passed_on: object, *, is_kept: bool) -> None:
        assert self._held.released["sandbox"] == self._held.made["sandbox"], "somebody still writes to it"
        self._held.released["home"] += 1
        self.saves_at_the_end.append(is_kept)
        raise OSError("busy")


class Machine:
    """A session, what it holds, and what a test can let happen to it."""

    happenings: ClassVar[dict[str, Callable[[Machine], object]]] = {
        "restored": lambda m: m.answers.give("restore", None),
        "not restored": lambda m: m.answers.give("restore", DiskError("lost")),
        "fetched": lambda m: m.answers.give("hold", None),
        "no image": lambda m: m.answers.give("hold", ImageError("broken")),
        "no registry": lambda m: m.answers.give("hold", ImageUnavailableError("away")),
        "opened": lambda m: m.answers.give("open", None),
        "not opened": lambda m: m.answers.give("open", SandboxError("no room")),
        "opening breaks down": lambda m: m.answers.give("open", KeyError("bug")),
        "sshd starts": lambda m: m.session.reports.take({"report": "ready"}),
        "sshd fails": lambda m: m.session.reports.take({"report": "failed", "text": "no"}),
        "nobody is left": lambda m: m.session.reports.take({"report": "empty"}),
        "log": lambda m: m.session.reports.take({"report": "closed", "connection": 1}),
        "first program ends": lambda m: m.answers.give("end", None),
        "destroyed": lambda m: m.answers.give("destroy", None),
        "destroying breaks down": lambda m: m.answers.give("destroy", SandboxError("stuck")),
        "closed at once": lambda m: m.session.close(timedelta(0), CLOSED),
        "closed": lambda m: m.session.close(timedelta(seconds=30), CLOSED),
        "lease passed on": lambda m: m.session.end(EndReason.LEASE_PASSED_ON),
        "time passes": lambda m: m.pass_time(timedelta(minutes=40)),
        "an instant passes": lambda m: m.pass_time(timedelta(seconds=5)),
        "end is moved": lambda m: m.session.move_end(m.clock.now() + timedelta(hours=1)),
        "somebody comes": lambda m: m.connect(),
    }

    def __init__(self, *, has_disk: bool, has_image: bool) -> None:
        self.held, self.answers, self.clock = Held(), Answers(), ManualClock(NOW)
        self.connections: list[asyncio.Task[None]] = []
        self.home = ScriptedHome(self.answers, self.held) if has_disk else None
        image = image_reference("registry.example/team/rocm:6.2") if has_image else None
        spec = SessionSpec(
            session_id="ses_1",
            lease=Lease(7, None, 8, ()),
            keys=(),
            end_time=NOW + timedelta(hours=1),
            grace=timedelta(minutes=2),
            image=image,
        )
        order = SandboxOrder(
            session_id="ses_1",
            keys=(),
            environment={},
            share=Share(1, 1, 1, 1),
            welcome="",
            end_time=spec.end_time,
            disk_bytes=1,
        )
        adapter: Any = SimpleNamespace(open=self._open, gaps=())
        scripted: Any = {"home": self.home, "images": SimpleNamespace(hold=self._hold)}
        place = Place((), ())
        self.session = Session(spec=spec, place=place, sandbox=adapter, order=order, clock=self.clock, **scripted)
        self.seen = recorded(self.session.life)

    def pass_time(self, by: timedelta) -> None:
        self.clock.advance(by)
        self.session.pass_time(self.clock.now())

    def connect(self) -> None:
        async def carried() -> None:
            with suppress(ExecutorError):
                async for _ in self.session.logins.connect(_silence()):
                    pass

        self.connections.append(asyncio.create_task(carried()))

    async def _open(self, order: object, on_report: object) -> ScriptedSandbox:
        await self.answers.of("open")
        return ScriptedSandbox(self.answers, self.held)

    async def _hold(self, reference: object, on_percent: Callable[[int], None]) -> object:
        on_percent(50)
        # As the store does, it may have the image although it was told to stop.
        with suppress(asyncio.CancelledError):
            await self.answers.of("hold")
        self.held.made["image"] += 1
        return SimpleNamespace(image=SimpleNamespace(command=(), digest="sha256:1"), release=self._release)

    def _release(self) -> None:
        self.held.released["image"] += 1


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.Future()
    yield b""


async def turn_over() -> None:
    """Lets everything act that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def lived(machine: Machine, *instants: Sequence[str]) -> session_pb2.SessionEnded:
    """Lets this happen, what is of one instant before anybody can act, then all that a session waits for."""
    life = asyncio.create_task(machine.session.carry_out())
    for instant in instants:
        for name in instant:
            with suppress(SessionNotReadyError, UnknownSessionError):
                Machine.happenings[name](machine)
        await turn_over()
    machine.session.end(EndReason.EXECUTOR_STOPPED)
    for what in ("open", "destroy"):
        machine.answers.give(what, None)
    async with asyncio.timeout(30):
        await life
        await asyncio.gather(*machine.connections)
    return machine.session.finish()


INSTANTS = st.lists(st.sampled_from(sorted(Machine.happenings)), max_size=3)


@settings(deadline=None)
@given(st.booleans(), st.booleans(), st.lists(INSTANTS, max_size=10))
def test_whatever_happens_a_session_keeps_to_its_table_and_gives_all_back_once(
    has_disk: bool, has_image: bool, instants: list[list[str]]
) -> None:
    async def run() -> None:
        machine = Machine(has_disk=has_disk, has_image=has_image)
        ended = await lived(machine, *instants)
        session, seen = machine.session, machine.seen
        assert follows_the_table(seen)
        assert seen[-3:] == [SessionState.ENDING, SessionState.SAVING, SessionState.OVER]
        assert machine.held.released == machine.held.made
        assert set(machine.held.made.values()) <= {1}
        assert not session.logins._tunnels
        assert ended.reason
        assert IllegalMoveError.__name__ not in ended.details
        assert session.events.last is not None
        assert session.events.last.ended == ended
        names_of_events = [event.WhichOneof("event") for event in session.events._events]
        assert names_of_events.count("ended") == 1
        assert names_of_events.count("ready") == (SessionState.READY in seen)
        if machine.home is not None:
            assert machine.home.saves_at_the_end == [SessionState.READY in seen]
        with pytest.raises(UnknownSessionError):
            await session.notify("hello")

    asyncio.run(run())


def one_by_one(names: list[str]) -> list[list[str]]:
    return [[name] for name in names]


UNTIL_READY = ["restored", "fetched", "opened", "sshd starts"]
"""What happens to a session with a disk and an image until people can be in."""


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["first program ends"], session_pb2.SESSION_END_REASON_SANDBOX_ENDED),
        (["sshd fails"], session_pb2.SESSION_END_REASON_SANDBOX_ENDED),
        (["closed", "nobody is left", "lease passed on"], CLOSED),
        (["time passes", "time passes"], EXPIRED),
    ],
)
async def test_the_first_reason_is_why_it_ends(names: list[str], reason: int) -> None:
    machine = Machine(has_disk=True, has_image=True)
    assert (await lived(machine, *one_by_one(UNTIL_READY), *one_by_one(names))).reason == reason
    assert machine.seen == list(SessionState)


@pytest.mark.parametrize(
    ("names", "reason", "state"),
    [
        (["not restored"], session_pb2.SESSION_END_REASON_FAILED, SessionState.RESTORING),
        (["restored", "no image"], session_pb2.SESSION_END_REASON_IMAGE, SessionState.FETCHING),
        (["restored", "no registry"], session_pb2.SESSION_END_REASON_IMAGE_UNAVAILABLE, SessionState.FETCHING),
        (["restored", "fetched", "opening breaks down"], session_pb2.SESSION_END_REASON_FAILED, SessionState.OPENING),
        (["restored", "fetched", "opened", "sshd fails"], session_pb2.SESSION_END_REASON_FAILED, SessionState.OPENING),
        (["closed"], CLOSED, SessionState.RESTORING),
    ],
)
async def test_what_is_not_ready_ends_where_it_broke_down_and_saves_nothing(
    names: list[str], reason: int, state: SessionState
) -> None:
    machine = Machine(has_disk=True, has_image=True)
    assert (await lived(machine, *one_by_one(names))).reason == reason
    assert machine.seen[machine.seen.index(SessionState.ENDING) - 1] is state
    assert machine.home is not None
    assert machine.home.saves_at_the_end == [False]


async def test_a_session_that_is_closed_in_the_instant_in_which_it_would_be_ready_never_is() -> None:
    machine = Machine(has_disk=True, has_image=True)
    ended = await lived(machine, *one_by_one(UNTIL_READY[:-1]), ["sshd starts", "closed"])
    assert (ended.reason, ended.details) == (CLOSED, "")
    assert SessionState.READY not in machine.seen


async def test_a_sandbox_of_which_it_is_not_known_whether_it_is_gone_leaves_processes() -> None:
    machine = Machine(has_disk=True, has_image=True)
    ended = await lived(machine, *one_by_one(UNTIL_READY), ["first program ends"], ["destroying breaks down"])
    assert ended.unkillable
    assert machine.held.released == machine.held.made
