"""Times one case in one session: warms up, takes samples up to the stopping rule, replaces a few if it may."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from statistics import median

from services.executor.core.call.idle_work import NO_TIME, IdleTime
from services.executor.core.call.runner_session import CallTimes, RunnerSession
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.check.checking import Checker
from services.executor.core.check.sample_replacement import Replaced, replaceable
from services.executor.core.measure.timed_calls import TimedCalls
from services.executor.core.timing.stopping import StoppingProfile, StoppingRule, StopReason
from services.executor.devices.device import Device
from services.executor.devices.instruments import Instruments, Reading


@dataclass(frozen=True)
class Measurement:
    """The timed calls of one case in one session, in order, and the null calls between them.

    `readings` are those of the instruments at each call, which were taken at `read_ns`; the measurement began at
    `begin_ns` (both by the host's clock that only goes forward). `replaced` are the samples that were taken again,
    `flush_bytes` is the size of the sweep before each call, and `first_call_ns` the claimed time of the session's first
    call of the case. `idle` is the time between the case's orders. Of all `calls`, warm-up included, `checked_calls`
    had their answers compared.
    """

    times: tuple[CallTimes, ...]
    nulls_ns: tuple[int, ...]
    stopped_by: StopReason
    readings: tuple[Reading, ...] = ()
    read_ns: tuple[int, ...] = ()
    begin_ns: int = 0
    replaced: tuple[Replaced, ...] = ()
    flush_bytes: int = 0
    first_call_ns: int = 0
    idle: IdleTime = NO_TIME
    calls: int = 0
    checked_calls: int = 0


class Stopwatch:
    """Takes samples of one case, and keeps their times, null calls and instrument readings."""

    def __init__(self, session: RunnerSession, calls: TimedCalls, device: Device) -> None:
        self._session = session
        self._calls = calls
        self._device = device
        self.times: list[CallTimes] = []
        self.nulls_ns: list[int] = []
        self.readings: list[Reading] = []
        self.read_ns: list[int] = []

    async def warm_up(self, profile: StoppingProfile) -> int:
        """Makes calls until the device is warm; they are judged like any other. Returns the time of the first in ns."""
        begin, calls_seconds = time.perf_counter(), list[float]()
        while not profile.is_warm(calls_seconds, time.perf_counter() - begin - self._calls.seconds_ahead):
            times = await self._calls.make()
            calls_seconds.append(times.event_ns / 1e9)
        return round(calls_seconds[0] * 1e9)

    async def take(self) -> None:
        """Take one sample."""
        self.times.append(await self._calls.make())
        self.readings.append(_reading_of(self._device))
        self.read_ns.append(time.perf_counter_ns())
        self.nulls_ns.append(await self._session.null_call_ns())

    async def replace(self) -> tuple[Replaced, ...]:
        """Take those samples again that have a recorded cause, and return the old ones."""
        causes = replaceable(self.readings)
        replaced = tuple(Replaced(index, self.times[index].event_ns, cause) for index, cause in causes.items())
        for index in causes:
            await self.take()
            self.times[index] = self.times.pop()
            self.readings[index] = self.readings.pop()
            self.read_ns[index] = self.read_ns.pop()
            self.nulls_ns[index] = self.nulls_ns.pop()
        return replaced


async def null_calls_ns(session: RunnerSession, device: Device, count: int = 21) -> list[int]:
    """Makes null calls as a stopwatch does, after a look at the instruments: processors sleep while these answer."""
    nulls_ns: list[int] = []
    for _ in range(count):
        _reading_of(device)
        nulls_ns.append(await session.null_call_ns())
    return nulls_ns


def _reading_of(device: Device) -> Reading:
    return device.read_instruments() if isinstance(device, Instruments) else Reading()


async def measure(
    checker: Checker,
    judge: CaseJudge,
    profile: StoppingProfile,
    device: Device,
    flush_bytes: int = 0,
    taken: Callable[[], None] = lambda: None,
) -> Measurement:
    """Measure one case in the open session, and call `taken` after each sample.

    Raises Failure if a call is wrong.
    """
    begin_ns = time.perf_counter_ns()
    calls = TimedCalls(checker, judge, flush_bytes)
    watch, idle_before = Stopwatch(checker.session, calls, device), checker.session.idle
    first_call_ns = await watch.warm_up(profile)
    rule, begin = StoppingRule(profile), time.perf_counter()
    stopped_by: StopReason | None = None
    while stopped_by is None:
        await watch.take()
        taken()
        stopped_by = rule.add(watch.times[-1].event_ns / 1e9, time.perf_counter() - begin)
    replaced = await watch.replace()
    await calls.check_rest()
    return Measurement(
        replaced=replaced,
        times=tuple(watch.times),
        nulls_ns=tuple(watch.nulls_ns),
        stopped_by=stopped_by,
        readings=tuple(watch.readings),
        read_ns=tuple(watch.read_ns),
        begin_ns=begin_ns,
        flush_bytes=flush_bytes,
        first_call_ns=first_call_ns,
        idle=checker.session.idle - idle_before,
        calls=calls.made,
        checked_calls=calls.checked,
    )


async def measure_first_calls(
    open_session: Callable[[], AbstractAsyncContextManager[Checker]],
    judge_of: Callable[[Checker], CaseJudge],
    profile: StoppingProfile,
    device: Device,
    flush_bytes: int = 0,
    taken: Callable[[], None] = lambda: None,
) -> Measurement:
    """Measure first calls, each in a fresh runner of `open_session`; raises Failure if a call is wrong."""
    begin_ns, watches = time.perf_counter_ns(), list[Stopwatch]()
    idle = NO_TIME
    rule, begin = StoppingRule(profile), time.perf_counter()
    stopped_by: StopReason | None = None
    while stopped_by is None:
        async with open_session() as checker:
            calls = TimedCalls(checker, judge_of(checker), flush_bytes, most=1)
            watches.append(Stopwatch(checker.session, calls, device))
            await watches[-1].take()
            await calls.check_rest()
            idle += checker.session.idle
        taken()
        stopped_by = rule.add(watches[-1].times[0].event_ns / 1e9, time.perf_counter() - begin)
    return Measurement(
        times=tuple(watch.times[0] for watch in watches),
        nulls_ns=tuple(watch.nulls_ns[0] for watch in watches),
        stopped_by=stopped_by,
        readings=tuple(watch.readings[0] for watch in watches),
        read_ns=tuple(watch.read_ns[0] for watch in watches),
        begin_ns=begin_ns,
        flush_bytes=flush_bytes,
        first_call_ns=round(median(watch.times[0].event_ns for watch in watches)),
        idle=idle,
        calls=len(watches),
        checked_calls=len(watches),
    )
