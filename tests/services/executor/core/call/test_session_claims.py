"""Whatever a runner sends, and whenever it leaves, the judge answers with a verdict."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.library.catalogue import load_problem
from services.executor.core.audit.chain import CPU_CHAINS, audit_case
from services.executor.core.audit.chain_audit import CPU_CHAIN_RULE
from services.executor.core.call.commitment import Excerpt, Question
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.checking import Checker
from services.executor.core.model.failure import Failure
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.messages import Order, Reply, Step
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.channel import Channel
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.sandboxes.sandbox import Command, Exit
from tests.services.executor.core.audit.test_chain import PROBLEMS

MARK = 0x31525057
LIMITS = replace(StageLimits(), start_seconds=10.0, call_seconds=10.0, copy_seconds=10.0)
PROBLEM = load_problem(PROBLEMS / "vector-addition").problem
SMALL = PROBLEM.sizes.cpu[3]


class Impostor:
    """A sandbox whose program scripts its answers to orders, or leaves after its first answer."""

    def __init__(self, folder: Path, says: Callable[[bytes], bytes], *, listens: bool) -> None:
        self._connected = socket.socket(socket.AF_UNIX)
        self._connected.connect(str(folder / "socket"))
        self._connected.send((folder / "key").read_bytes())
        self._connected.setblocking(False)
        self._says = says
        self._listens = listens
        self._ended = asyncio.Event()
        self._task = asyncio.ensure_future(self._speak())

    async def _speak(self) -> None:
        loop = asyncio.get_running_loop()
        order = b"\0" * 32
        while order:
            order, before = b"", order
            with suppress(OSError):
                await loop.sock_sendall(self._connected, self._says(before))
                order = await loop.sock_recv(self._connected, 32) if self._listens else b""
        self._connected.close()
        self._ended.set()

    async def wait(self) -> Exit:
        await self._ended.wait()
        return Exit(code=0, signal=None, stdout=b"", stderr=b"")

    def owns(self, pid: int) -> bool:
        return pid == os.getpid()

    async def cpu_time(self) -> timedelta:
        return timedelta(0)

    async def kill(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._connected.close()
        self._ended.set()


class Runner(Impostor):
    """One that answers from a thread, and so also while the judge keeps busy."""

    async def _speak(self) -> None:
        await asyncio.to_thread(self._answer)
        self._ended.set()

    def _answer(self) -> None:
        order = b"\0" * 32
        with self._connected, suppress(OSError):
            self._connected.setblocking(True)
            while order:
                self._connected.sendall(self._says(order))
                order = self._connected.recv(32)


ANSWERS = {1: (Reply.LOADED,), 2: (Reply.DONE, Reply.STORED), 3: (Reply.PONG,), 5: (Reply.PREPARED,)}
ANSWERS |= {6: (Reply.DONE,), 7: (Reply.STORED,), 8: (Reply.FLUSHED,), 9: (Reply.DONE,)}
ANSWERS |= {11: (Reply.LOADED,), 12: (Reply.STORED,), 13: (Reply.DIGESTED,), 14: (Reply.EXCERPTED,)}


def _reply(kind: int, sequence: int, step: int = 0, status: int = 0, event_ns: int = 1000, text: bytes = b"") -> bytes:
    return struct.pack("<IIQIiQQQQ72s", MARK, kind, sequence, step, status, event_ns, 2000, 0, 0, text)


def _obedient(order: bytes) -> bytes:
    """The replies of a runner of ours that does no work."""
    _, kind, sequence, first, _ = struct.unpack("<IIQQQ", order)
    leaves_answers = kind == Order.CALL and first == 1
    replies = (Reply.DONE,) if leaves_answers else ANSWERS.get(kind, (Reply.READY,) if kind == 0 else ())
    return b"".join(_reply(reply, sequence) for reply in replies)


@asynccontextmanager
async def _session(
    parent: Path, says: Callable[[bytes], bytes], *, listens: bool = True, on_a_gpu: bool = False
) -> AsyncGenerator[RunnerSession]:
    with ScratchFolder(parent) as folder:

        async def start(*_: object) -> Impostor:
            return (Runner if on_a_gpu else Impostor)(folder, says, listens=listens)

        device = SimpleNamespace(
            describe=lambda: SimpleNamespace(is_gpu=on_a_gpu, has_own_memory=on_a_gpu),
            run_command=lambda *_: Command(["runner"], folder, []),
        )
        session = RunnerSession(device, SimpleNamespace(start=start), LIMITS, Channel(folder))
        async with session.open(folder):
            yield session


async def _every_order(parent: Path, says: Callable[[bytes], bytes], *, listens: bool) -> None:
    async with _session(parent, _obedient) as trusted, _session(parent, says, listens=listens) as session:
        checker = Checker(PROBLEM, RunSeed("claims"), session)
        judge = checker.judge(SMALL, 0)
        await session.null_call_ns()
        await session.flush(1 << 20)
        await session.redraw(1, 2)
        await session.call(10.0, store=False, question=Question(1))
        places = np.zeros(4, np.uint64)
        excerpt = Excerpt(session.channel.size_bytes, {"y": places}, {"y": np.dtype(np.float32)})
        session.channel.resize(excerpt.offset + places.nbytes)
        await session.call(10.0, store=False, question=Question(1, 1, excerpt))
        await session.store()
        await audit_case(checker, trusted, judge, 1000.0, (CPU_CHAINS, CPU_CHAIN_RULE))
        await checker.call_twice(judge)


def _run(parent: Path, says: Callable[[bytes], bytes], *, listens: bool = True) -> Verdict:
    with pytest.raises(Failure) as caught:
        asyncio.run(_every_order(parent, says, listens=listens))
    return caught.value.verdict


messages = st.builds(
    _reply,
    st.one_of(st.sampled_from(Reply), st.integers(0, 2**32 - 1)),
    st.one_of(st.integers(0, 8), st.integers(0, 2**64 - 1)),
    st.one_of(st.sampled_from(Step), st.integers(0, 2**32 - 1)),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**64 - 1),
    st.binary(max_size=88),
)


@settings(max_examples=60)
@given(st.lists(st.one_of(messages, st.binary(min_size=1, max_size=300)), max_size=12))
def test_any_bytes_at_any_time_end_in_a_verdict(shared_tmp: Path, sent: list[bytes]) -> None:
    assert _run(shared_tmp, lambda _: b"".join(sent), listens=False) in VERDICTS


@settings(max_examples=60)
@given(st.integers(0, 16), messages)
def test_one_lie_among_good_answers_ends_in_a_verdict(shared_tmp: Path, place: int, lie: bytes) -> None:
    orders = count()
    assert _run(shared_tmp, lambda order: lie if next(orders) == place else _obedient(order)) in VERDICTS


def test_obeying_and_doing_nothing_is_a_wrong_answer(shared_tmp: Path) -> None:
    assert _run(shared_tmp, _obedient) is Verdict.WRONG_ANSWER


VERDICTS = {
    Verdict.RUNTIME_ERROR,
    Verdict.LAUNCH_ERROR,
    Verdict.MEMORY_LIMIT_EXCEEDED,
    Verdict.WRONG_ANSWER,
}


@pytest.fixture(scope="session")
def shared_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("claims")


def test_any_memory_is_no_more_than_a_wrong_answer(shared_tmp: Path) -> None:
    @settings(max_examples=30)
    @given(st.binary(min_size=1, max_size=64), st.integers(0, 1 << 16), st.booleans())
    def scribble(data: bytes, offset: int, cuts: bool) -> None:
        def says(order: bytes) -> bytes:
            for path in shared_tmp.glob("*/memory"):
                with path.open("r+b") as memory:
                    memory.seek(offset)
                    memory.write(data * 200)
                    if cuts:
                        memory.truncate(offset)
            return _obedient(order)

        assert _run(shared_tmp, says) in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.OUT_OF_BOUNDS}

    scribble()


async def test_others_have_their_turn_between_calls_for_which_the_judge_keeps_busy(tmp_path: Path) -> None:
    turns = count()

    async def others() -> None:
        while True:
            next(turns)
            await asyncio.sleep(0)

    async with _session(tmp_path, _obedient, on_a_gpu=True) as session:
        beside = asyncio.create_task(others())
        for _ in range(20):
            await session.null_call_ns()
        beside.cancel()
    assert next(turns) >= 20
