"""Whatever happens, in any order: no machine too many, no slot leased twice, none leaked, every second paid.

Gangs are whole or over, and each slot's fencing token grows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from servicekit.clock import ManualClock
from services.vmpool.capacity.machine_request import MachineRequest
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import (
    InvalidFieldError,
    LeaseEndedError,
    MachineNotReadyError,
    NoOfferError,
    NotFoundError,
    PoolLimitError,
    ProviderError,
    ReservedMachineError,
    SlotTakenError,
    StaleMachineError,
)
from services.vmpool.machines.lease import Holder, Lease, LeaseState, PlacedRequest, Placement
from services.vmpool.machines.machine import OVER, Halt, Machine, MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.machines.usage_fact import UsageFact, next_fact
from services.vmpool.providers.provider import Observation, ProviderState
from tests.services.vmpool.conftest import Bench, a_request, bench_on
from tests.services.vmpool.scripted_provider import ScriptedProvider
from vocabulary.slots import Slot, taken

MAX_MACHINES = 2
GPU_TYPES = ("MI300X", "MI210")
INTERVAL = timedelta(seconds=60)
MINUTE = timedelta(minutes=1)
RESERVATION = timedelta(minutes=20)
PARTS = (
    (Slot(0, 0, 8),),
    (Slot(1, 0, 8),),
    (Slot(0, 0, 8), Slot(1, 0, 8)),
    (Slot(0, 4, 4),),
    (Slot(0, 6, 2),),
)
"""Slots that are asked for by name. The second GPU is on some machines only."""
REFUSALS = (MachineNotReadyError, SlotTakenError, InvalidFieldError)

Event = tuple[object, ...]
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.tuples(st.just("demand"), st.sampled_from(GPU_TYPES), st.integers(1, 4), st.sampled_from([1, 2, 4, 8, 16])),
    st.tuples(st.just("bring up"), st.sampled_from(GPU_TYPES), st.integers(1, 4)),
    st.tuples(st.just("acquire"), st.sampled_from(GPU_TYPES), st.sampled_from([1, 2, 4, 8])),
    st.tuples(st.just("acquire"), st.just("MI300X"), st.sampled_from([1, 2, 4, 8, 16])),
    st.tuples(st.just("reserve"), st.sampled_from([8, 16])),
    st.tuples(st.just("place"), st.lists(st.sampled_from(PARTS), min_size=1, max_size=MAX_MACHINES)),
    st.tuples(
        st.just("bring up a gang"), st.sampled_from([8, 16]), st.lists(st.sampled_from(PARTS), min_size=2, max_size=2)
    ),
    st.tuples(st.just("bring up a gang"), st.just(16), st.just([PARTS[2], PARTS[0]])),
    st.tuples(st.just("release"), st.integers(0, 9)),
    st.tuples(st.just("renew"), st.integers(0, 9)),
    st.tuples(st.just("pass")),
    st.tuples(st.just("pass")),
    st.tuples(st.just("advance"), st.sampled_from([1, 5, 20, 90, 700])),
    st.tuples(
        st.just("fail"), st.sampled_from(["offers", "provision", "observe", "release", "list_all"]), st.booleans()
    ),
    st.tuples(st.just("lose answers")),
    st.tuples(st.just("heal")),
    st.tuples(st.just("silence"), st.booleans()),
    st.tuples(st.just("end a machine"), st.sampled_from(list(ProviderState))),
    st.tuples(st.just("drain"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("stop"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("request"), st.sampled_from(GPU_TYPES), st.sampled_from([1, 2])),
    st.tuples(st.just("restart")),
)


class Life:
    """One pool's life: events happen to it, and after each one the promises are checked."""

    def __init__(self, pool_settings: VmPoolSettings) -> None:
        self.settings = pool_settings
        self.clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        offers = [Offer("scripted", gpu_type, count, 3_600_000_000) for gpu_type in GPU_TYPES for count in (1, 2)]
        self.provider = ScriptedProvider(gpu_types=GPU_TYPES, offered=offers)
        self.leases: list[Lease] = []
        self.gangs: Counter[str] = Counter()
        self.tokens: dict[tuple[str, int, int], int] = {}
        self.facts: dict[str, list[UsageFact]] = {}
        self.jobs = 0

    async def live(self, events: Sequence[Event]) -> None:
        """Applies the events, then lets the pool settle."""
        left = list(events)
        while True:
            async with bench_on(self.settings, self.provider, self.clock) as bench:
                while left and left[0][0] != "restart":
                    await self._happens(bench, left.pop(0))
                    await self._promises_hold(bench)
                if not left:
                    await self._rests(bench)
                    return
                left.pop(0)

    async def _happens(self, bench: Bench, event: Event) -> None:
        kind, *values = event
        name = f"_{str(kind).replace(' ', '_')}"
        try:
            await getattr(self, name)(bench, *values)
        except (LeaseEndedError, NotFoundError, StaleMachineError, ProviderError, NoOfferError, PoolLimitError):
            return

    async def _demand(self, bench: Bench, gpu_type: str, jobs: int, eighths: int) -> None:
        await bench.demand(gpu_type, jobs, eighths)

    async def _bring_up(self, bench: Bench, gpu_type: str, jobs: int) -> None:
        await bench.demand(gpu_type, jobs)
        for _ in range(3):
            await bench.passes()
            await self._promises_hold(bench)
        for eighths in (8, 4, 2, 2)[:jobs]:
            await self._acquire(bench, gpu_type, eighths)

    async def _bring_up_a_gang(self, bench: Bench, eighths: int, parts: Sequence[tuple[Slot, ...]]) -> None:
        await bench.demand(GPU_TYPES[0], len(parts), eighths)
        await bench.passes(3)
        await self._place(bench, parts)

    async def _acquire(self, bench: Bench, gpu_type: str, eighths: int) -> None:
        self.jobs += 1
        granted = await bench.leases.acquire(a_request(f"job{self.jobs}", gpu_type=gpu_type, eighths=eighths))
        if granted is not None:
            self._note(granted[0])

    async def _reserve(self, bench: Bench, eighths: int) -> None:
        self.jobs += 1
        request = a_request(f"res{self.jobs}", eighths=eighths, holder=Holder.RESERVATION, duration=RESERVATION)
        if granted := await bench.leases.acquire(request):
            self._note(granted[0])

    async def _place(self, bench: Bench, parts: Sequence[tuple[Slot, ...]]) -> None:
        self.jobs += 1
        before = await bench.machines.unreleased()
        placements = tuple(Placement(m.machine_id, slots) for m, slots in zip(before, parts, strict=False))
        if not placements:
            return
        request = PlacedRequest(f"job{self.jobs}", 1, GPU_TYPES[0], placements, MINUTE, GPU_TYPES[1:])
        try:
            granted = await bench.leases.place(request)
        except REFUSALS:
            assert await bench.machines.unreleased() == before
            return
        assert [(lease.machine_id, lease.slots) for lease, _ in granted] == [
            (p.machine_id, p.slots) for p in placements
        ]
        for lease, _ in granted:
            self._note(lease)

    def _note(self, lease: Lease) -> None:
        self.leases.append(lease)
        self.gangs[lease.gang_id] += 1
        for slot in lease.slots:
            for eighth in range(slot.first, slot.first + slot.eighths):
                place = (lease.machine_id, slot.gpu, eighth)
                assert lease.fencing_token > self.tokens.get(place, 0)
                self.tokens[place] = lease.fencing_token

    async def _release(self, bench: Bench, index: int) -> None:
        if index < len(self.leases):
            await bench.leases.release(self.leases[index].lease_id, "done")

    async def _renew(self, bench: Bench, index: int) -> None:
        if index < len(self.leases):
            await bench.leases.renew(self.leases[index].lease_id, MINUTE)

    async def _pass(self, bench: Bench) -> None:
        await bench.passes()

    async def _advance(self, bench: Bench, seconds: int) -> None:
        self.clock.advance(timedelta(seconds=seconds))
        await bench.vmpool.sizer.run_once()

    async def _fail(self, bench: Bench, method: str, refused: bool) -> None:
        words = f"{method} fails"
        self.provider.failing[method] = ProviderError(words) if refused else TimeoutError(words)

    async def _lose_answers(self, bench: Bench) -> None:
        self.provider.loses_answers = True

    async def _heal(self, bench: Bench) -> None:
        self.provider.failing.clear()
        self.provider.loses_answers = False

    async def _silence(self, bench: Bench, silent: bool) -> None:
        bench.executors.silent = silent

    async def _end_a_machine(self, bench: Bench, state: ProviderState) -> None:
        for machine_id in list(self.provider.machines)[:1]:
            self.provider.observations[machine_id] = Observation(state, reason="an event", endpoint="127.0.0.1:1")

    async def _drain(self, bench: Bench, index: int, force: bool) -> None:
        for machine in (await bench.machines.all(include_ended=True))[index : index + 1]:
            ended = bench.machines.drain(machine.machine_id, "an event", force=force)
            await self._is_ended_unless_reserved(bench, machine, ended)

    async def _stop(self, bench: Bench, index: int, force: bool) -> None:
        for machine in (await bench.machines.all(include_ended=True))[index : index + 1]:
            ended = bench.machines.halt(machine.machine_id, Halt("an event"), force=force)
            await self._is_ended_unless_reserved(bench, machine, ended)
            if not force:
                # Not even a machine that drains already is stopped.
                now = await bench.machines.get(machine.machine_id)
                assert now.reservation_ids == machine.reservation_ids

    async def _is_ended_unless_reserved(self, bench: Bench, before: Machine, ended: Awaitable[Machine]) -> None:
        try:
            assert (await ended).state in OVER | {MachineState.DRAINING}
        except ReservedMachineError:
            assert before.reservation_ids
            assert await bench.machines.get(before.machine_id) == before

    async def _request(self, bench: Bench, gpu_type: str, gpu_count: int) -> None:
        await bench.vmpool.pool.requesting.request(MachineRequest(gpu_type, gpu_count, force_new=True))

    async def _promises_hold(self, bench: Bench) -> None:
        assert len(self.provider.machines) <= MAX_MACHINES
        unreleased = await bench.machines.unreleased()
        assert len(unreleased) <= MAX_MACHINES
        assert set(self.provider.machines) <= {machine.machine_id for machine in unreleased}
        active = dict[str, list[Lease]]()
        for machine in unreleased:
            combined = (0,) * machine.gpu_count
            standing = sorted(await bench.leases.standing_on(machine.machine_id), key=lambda lease: lease.fencing_token)
            assert machine.reservation_ids == tuple(lease.reservation_id for lease in standing if lease.reservation_id)
            for lease in standing:
                # Raises if a slot is leased twice.
                combined = taken(combined, lease.slots)
                if lease.gang_id and lease.state is LeaseState.ACTIVE:
                    active.setdefault(lease.gang_id, []).append(lease)
            assert combined == machine.occupied
        for gang_id, leases in active.items():
            assert len(leases) == self.gangs[gang_id]
            assert len({lease.expire_time for lease in leases}) == 1
        await self._note_usage(bench)

    async def _note_usage(self, bench: Bench) -> None:
        for machine in await bench.machines.all(include_ended=True):
            facts = self.facts.setdefault(machine.machine_id, [])
            fact = next_fact(machine, facts[-1] if facts else None, self.clock.now(), INTERVAL)
            if fact is not None:
                facts.append(fact)

    async def _rests(self, bench: Bench) -> None:
        await self._heal(bench)
        bench.executors.silent = False
        for lease in self.leases:
            await bench.leases.release(lease.lease_id, "the end")
        for _ in range(12):
            await bench.no_demand()
            await bench.passes(2)
            await self._note_usage(bench)
            self.clock.advance(timedelta(minutes=11))
        assert self.provider.machines == {}
        for machine in await bench.machines.all(include_ended=True):
            assert machine.state in OVER
            assert machine.release_time is not None
            self._is_paid_for(machine.machine_id, machine.cost_until(self.clock.now()), machine.price_micros_per_hour)

    def _is_paid_for(self, machine_id: str, cost_micros: int, price_micros_per_hour: int) -> None:
        facts = self.facts[machine_id]
        assert all(after.start_time == before.end_time for before, after in pairwise(facts))
        paid = sum((fact.end_time - fact.start_time).total_seconds() for fact in facts)
        assert round(paid * price_micros_per_hour / 3600) == cost_micros
        assert [fact.final for fact in facts] == [False] * (len(facts) - 1) + [True] * bool(facts)


# A failing example is short enough to read, and shrinking it takes minutes.
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)


@pytest.mark.timeout(600)
@settings(max_examples=25, deadline=None, phases=UNSHRUNK, suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(EVENTS, min_size=5, max_size=40))
def test_a_pool_keeps_its_promises_whatever_happens(
    events: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pool")
    pool_settings = VmPoolSettings(
        port=0,
        data_dir=folder,
        database_url=f"sqlite+aiosqlite:///{folder / 'vmpool.db'}",
        max_machines=MAX_MACHINES,
        gpus_per_machine=(1, 2),
        billing_target="127.0.0.1:1",
    )
    asyncio.run(Life(pool_settings).live(events))
