"""One runner in its sandbox, and the orders that the judge gives it.

Every wait has a deadline, and everything that the runner says is only a claim: a call counts only when the judge has
read its outputs itself. The wall time of a call is the judge's own, from its order to the runner's answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from services.executor.core.call.commitment import Commitment, Needed, Question
from services.executor.core.call.idle_work import NO_TIME, IdleMeter, IdleTime
from services.executor.core.call.layout import PAGE_BYTES
from services.executor.core.call.runner_claims import (
    NEVER_ENDING,
    claimed_failure,
    hung,
    interference,
    left_hanging,
    may_be_the_machines,
    never_came_up,
)
from services.executor.core.model.failure import Failure
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.messages import Order, ProtocolError, Reply, ReplyMessage
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.channel import Channel, ChannelClosedError
from services.executor.core.sandbox.exit_reasons import may_be_the_machines as end_may_be_the_machines
from services.executor.core.sandbox.exit_reasons import runner_failure, strain, took_too_long
from services.executor.core.sandbox.run_place import runner_command
from services.executor.core.sandbox.running import end_of, running
from services.executor.devices.device import Device
from services.executor.devices.instruments import SimulatedClock
from services.executor.sandboxes.sandbox import Exit, Sandbox, SandboxedProcess

_GOODBYE_SECONDS = 2.0
# A sleeping judge wakes late: in a virtual machine with an H200, its clock had 24 us more than the events of a call of
# 1 ms when it slept, and at most 5 us when it kept busy (docs/measurements.md). A longer wait need not be as exact.
_BUSY_SECONDS = 0.05


@dataclass(frozen=True)
class CallTimes:
    """The times of a call in ns: the runner's claims, and the judge's own clock.

    `stream_ns` and `device_ns` come from the device's clock (`spans.py`); they are 0 if it has none. `commitment` is
    the runner's commitment to the answer, if it was asked for, which is used when the call is made again
    (`revealing.py`).
    """

    event_ns: int
    clock_ns: int
    wall_ns: int
    stream_ns: int = 0
    device_ns: int = 0
    commitment: Commitment | None = None


class RunnerSession:
    """A session with one runner, used through `open`. Afterwards `end` says how the sandbox ended, if it ever began."""

    def __init__(
        self,
        device: Device,
        sandbox: Sandbox,
        limits: StageLimits,
        channel: Channel,
        goodbye_seconds: float = _GOODBYE_SECONDS,
    ) -> None:
        self.channel = channel
        self._goodbye_seconds = goodbye_seconds
        self.end: Exit | None = None
        self.came_up = False
        self._met_what_ours_may = False
        self.loaded_bytes = 0
        self.calls = 0
        self.first_call_time: float | None = None
        self._device = device
        # Used in every call; isinstance with a protocol takes 8 us.
        self._clock = device if isinstance(device, SimulatedClock) else None
        self._sandbox = sandbox
        self._limits = limits
        self._process: SandboxedProcess | None = None
        self._sequence = 0
        self._asked_seconds = 0.0
        self._busy_seconds = 0.0
        self._idle: IdleMeter | None = None

    @asynccontextmanager
    async def open(self, build: Path) -> AsyncGenerator[None]:
        """Starts the runner that lies in `build`, and ends it with the context; raises Failure."""
        command = runner_command(self._device, build, self.channel)
        try:
            async with running(self._sandbox, command, self._limits.runner_sandbox) as self._process:
                await self._begin(self._process)
                yield
                await self._say_goodbye(self._process)
        except Failure as failure:
            if self._process is not None and failure.verdict is Verdict.TIME_LIMIT_EXCEEDED:
                failure.message += strain(await end_of(self._process), self._limits.runner)
            raise
        finally:
            if self._process is not None:
                self.end = await end_of(self._process)
            self.channel.close()

    @property
    def may_be_the_machines(self) -> bool:
        """True if its failure counts against the submission only if a runner of our own does better here.

        That holds for everything before the first call, for errors that no kernel causes, for calls that a GPU does not
        end, and for ends like that of a runner of our own that cannot go on. Submissions can bring about each of them
        as well.
        """
        ended_so = self.end is not None and end_may_be_the_machines(self.end)
        return self.first_call_time is None or ended_so or self._met_what_ours_may

    @property
    def idle(self) -> IdleTime:
        """The time so far in which no order was open."""
        return self._idle.total if self._idle else NO_TIME

    async def load(self) -> None:
        """Makes the runner copy the published data to the device; raises Failure."""
        self.loaded_bytes = self.channel.size_bytes
        async with self._asked():
            await self._order(Order.LOAD)
            await self._answer(Reply.LOADED, self._limits.copy_seconds)

    async def take_program(self, program: bytes) -> None:
        """Makes the runner perform this launch program from now on, with new memory for it; raises Failure.

        Anything that was loaded before has to be loaded again.
        """
        self.channel.resize(max(len(program), PAGE_BYTES))
        self.channel.write(0, [program])
        async with self._asked():
            await self._order(Order.PROGRAM, len(program))
            await self._answer(Reply.LOADED, self._limits.copy_seconds)

    async def redraw(self, key: int, poison_key: int) -> None:
        """Makes the runner draw new inputs by the loaded rules, and poison the outputs; raises Failure."""
        async with self._asked():
            await self._order(Order.REDRAW, key, poison_key)
            await self._answer(Reply.LOADED, self._limits.copy_seconds)

    async def call(
        self, seconds: float, advice: str = NEVER_ENDING, *, store: bool = True, question: Question | None = None
    ) -> CallTimes:
        """Makes the runner call the solution, for at most `seconds`, and copy all data back; raises Failure.

        `advice` is for the author of a call that takes longer. Without `store` the data stay on the device. With a
        `question` the runner commits itself to the outputs at once, untimed.
        """
        self.first_call_time = self.first_call_time or time.time()
        try:
            times = await self._called(seconds, advice, store=store, question=question)
        except Failure as failure:
            failure.call = self.calls + 1
            raise
        self.calls += 1
        return times

    async def _called(self, seconds: float, advice: str, *, store: bool, question: Question | None) -> CallTimes:
        async with self._asked():
            begin_ns = time.perf_counter_ns()
            await self._order(Order.CALL, int(not store))
            done = await self._done(min(seconds, self._limits.call_seconds), advice)
            wall_ns = self._wall_ns(begin_ns, done)
            if store:
                await self._answer(Reply.STORED, self._limits.copy_seconds)
            commitment = await self._commitment(question) if question else None
        return CallTimes(done.event_ns, done.clock_ns, wall_ns, done.stream_ns, done.device_ns, commitment)

    async def store(self, needed: Needed | None = None) -> None:
        """Makes the runner copy back the outputs of a call without `store`, or the needed bytes; raises Failure."""
        if needed:
            self.channel.write(needed.offset, [needed.ranges.tobytes()])
        async with self._asked():
            await self._order(Order.STORE, len(needed.ranges) if needed else 0)
            await self._answer(Reply.STORED, self._limits.copy_seconds)

    async def flush(self, size_bytes: int) -> None:
        """Makes the runner sweep `size_bytes` of memory through the device's caches; raises Failure.

        The order counts as open until the next one: no reading of a counter comes between a sweep and its call.
        """
        if self._idle:
            await self._idle.order_begins()
        await self._order(Order.FLUSH, size_bytes)
        await self._answer(Reply.FLUSHED, self._limits.copy_seconds)

    async def probe_ns(self, flush_bytes: int, probe_bytes: int) -> int:
        """Returns the time in ns to read memory that was read before a flush; raises Failure.

        It is a claim, so ask a runner of our own.
        """
        await self._order(Order.PROBE, flush_bytes, probe_bytes)
        return (await self._answer(Reply.DONE, self._limits.copy_seconds)).event_ns

    async def prepare_chain(self, links: int) -> None:
        """Makes the runner allocate memory for a chain of `links` calls with the loaded data; raises Failure."""
        async with self._asked():
            await self._order(Order.PREPARE, links)
            await self._answer(Reply.PREPARED, self._limits.copy_seconds)

    async def run_chain(self, nonce: int, seconds: float) -> int:
        """Runs the prepared chain, for at most `seconds`, and returns its wall time in ns; raises Failure."""
        async with self._asked():
            begin_ns = time.perf_counter_ns()
            await self._order(Order.CHAIN, nonce)
            return self._wall_ns(begin_ns, await self._done(seconds, NEVER_ENDING))

    async def fetch_link(self, link: int) -> None:
        """Makes the runner copy back the outputs of one call of the chain, or all data for the last; raises Failure."""
        async with self._asked():
            await self._order(Order.FETCH, link)
            await self._answer(Reply.STORED, self._limits.copy_seconds)

    async def null_call_ns(self) -> int:
        """Measures the way to the runner and back, in ns, which is part of every call's wall time; raises Failure."""
        async with self._asked():
            begin_ns = time.perf_counter_ns()
            await self._order(Order.PING)
            seconds = min(self._limits.copy_seconds, self._limits.call_seconds)
            pong = await self._answer(Reply.PONG, seconds, busy_seconds=self._busy_seconds)
            return self._wall_ns(begin_ns, pong)

    @asynccontextmanager
    async def _asked(self) -> AsyncGenerator[None]:
        """Keeps an order open: the sandbox works on request then, and its time counts towards the runner's limit."""
        if self._idle:
            await self._idle.order_begins()
        begin = time.monotonic()
        yield
        self._asked_seconds += time.monotonic() - begin
        if self._idle:
            await self._idle.order_ended()
        if self._busy_seconds:
            # Many orders in a row may never have waited: a cancellation, among others, needs its turn.
            await asyncio.sleep(0)

    def _wall_ns(self, begin_ns: int, answer: ReplyMessage) -> int:
        """Returns the ns since `begin_ns` by the judge's own clock, or by the clock of a simulated device."""
        if self._clock:
            return self._clock.wall_ns(answer.clock_ns)
        return time.perf_counter_ns() - begin_ns

    async def _commitment(self, question: Question) -> Commitment:
        if question.excerpt is None:
            await self._order(Order.DIGEST, question.key)
            digested = await self._answer(Reply.DIGESTED, self._limits.copy_seconds)
            return Commitment(question.key, question.call, (digested.event_ns, digested.clock_ns))
        slots = question.excerpt.slots()
        self.channel.write(question.excerpt.offset, [slots])
        await self._order(Order.EXCERPT, question.excerpt.count)
        await self._answer(Reply.EXCERPTED, self._limits.copy_seconds)
        if not self.channel.read(question.excerpt.offset, [memoryview(slots)]):
            raise interference("the shared memory was cut")
        return Commitment(question.key, question.call, question.excerpt.reported(slots))

    async def _begin(self, process: SandboxedProcess) -> None:
        accepting = asyncio.ensure_future(self.channel.accept(process))
        ending = asyncio.ensure_future(process.wait())
        try:
            await asyncio.wait(
                (accepting, ending), timeout=self._limits.start_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if accepting.done():
                await self._answer(Reply.READY, self._limits.start_seconds)
                self.came_up = True
                # A processor that runs the kernels as well is not ours to keep busy.
                self._busy_seconds = _BUSY_SECONDS if self._device.describe().has_own_memory else 0.0
                self._idle = IdleMeter(process.cpu_time)
                await self._idle.order_ended()
            elif ending.done():
                await self._fail_by_end()
            else:
                raise never_came_up(self._limits.start_seconds)
        finally:
            accepting.cancel()
            ending.cancel()
            await asyncio.gather(accepting, ending, return_exceptions=True)

    async def _order(self, order: Order, first: int = 0, second: int = 0) -> None:
        self._sequence += 1
        try:
            await self.channel.send(order, self._sequence, first, second)
        except ChannelClosedError:
            await self._fail_by_end()

    async def _done(self, seconds: float, advice: str) -> ReplyMessage:
        """Waits for the end of a call or a chain.

        All orders share the runner's wall time; the judge's own work takes none of it.
        """
        left = self._limits.runner.wall.total_seconds() - self._asked_seconds
        late = hung(Reply.DONE, seconds, advice) if seconds <= left else took_too_long(self._limits.runner)
        return await self._answer(Reply.DONE, min(seconds, left), late, busy_seconds=self._busy_seconds)

    async def _answer(
        self, expected: Reply, seconds: float, late: Failure | None = None, busy_seconds: float = 0.0
    ) -> ReplyMessage:
        try:
            async with asyncio.timeout(seconds):
                message = await self.channel.receive(busy_seconds)
        except ChannelClosedError:
            await self._fail_by_end()
            raise
        except TimeoutError as error:
            self._met_what_ours_may = self._device.describe().is_gpu
            raise late or hung(expected, seconds) from error
        except ProtocolError as error:
            raise interference(str(error)) from error
        if message.reply is Reply.FAILED:
            self._met_what_ours_may = may_be_the_machines(message)
            raise claimed_failure(message)
        if message.reply is not expected or message.sequence != self._sequence:
            raise interference(f"{message.reply.name} where {expected.name} was due")
        return message

    async def _fail_by_end(self) -> None:
        """Raises the failure that follows from the end of the sandbox, after the runner is gone."""
        if self._process is None:
            raise interference("the runner left before it came")
        try:
            async with asyncio.timeout(_GOODBYE_SECONDS):
                end = await end_of(self._process)
        except TimeoutError as error:
            await self._process.kill()
            if (await end_of(self._process)).unkillable:
                raise left_hanging() from error
            raise interference("the connection was closed by a program that goes on") from error
        is_early = self.first_call_time is None
        raise runner_failure(end, self._limits.runner, self.calls, came_up=self.came_up, is_early=is_early)

    async def _say_goodbye(self, process: SandboxedProcess) -> None:
        with suppress(ChannelClosedError, TimeoutError):
            await self.channel.send(Order.END, self._sequence + 1)
            async with asyncio.timeout(self._goodbye_seconds):
                await end_of(process)
