"""Reservations of several machines, with a real scheduler beside a scripted pool and an executor for each machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import session_pb2, session_pb2_grpc
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, reservations_pb2, scheduler_pb2
from wavepool.scheduler.v1.queues_pb2 import FAIRNESS_POLICY_KUEUE

from services.scheduler.jobs.reservation import GRACE, LONGEST_PREPARING
from services.scheduler.jobs.reservation_checks import NO_LINKS
from services.scheduler.peers.pool import Pool
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, Cluster, LaterClock, scripted_cluster, until
from tests.services.scheduler.scripted_sessions import ScriptedSession, ScriptedSessions
from tests.services.scheduler.test_dated_reservations import start_in
from tests.services.scheduler.test_queues import apply, team
from tests.services.scheduler.test_reservations import HOUR, PRICE, cancel, charged, extend, named, update
from vocabulary.gang_nodes import SEED_BYTES
from vocabulary.money import price_of

STATE = reservations_pb2
HALF = HOUR / 2
GANG: dict[str, Any] = {"gpus": 16, "distributed": True, "allow_slow_links": True}
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII+adbZKTets2cZk/46cy9OLgbkCDoImwgkTEbZR7+z9"


class Machines:
    """Two machines of 8 GPUs beside a scheduler, each with sessions of its own."""

    def __init__(self, cluster: Cluster, sessions: tuple[ScriptedSessions, ScriptedSessions]) -> None:
        self.cluster = cluster
        self.sessions = sessions

    async def made(self, **changes: Any) -> reservations_pb2.Reservation:
        return await self.cluster.reserve(**(GANG | changes))

    async def active(self, **changes: Any) -> reservations_pb2.Reservation:
        made = await self.made(**changes)
        await self.cluster.reservation_events(made.reservation_id, "active")
        return await self.cluster.reservation(made.reservation_id)

    def session(self, reservation: reservations_pb2.Reservation, rank: int, attempt: int = 1) -> ScriptedSession:
        return self.sessions[rank].sessions[f"{reservation.reservation_id}-{attempt}"]

    async def is_ready(self, reservation: reservations_pb2.Reservation, rank: int) -> None:
        """Opens the session on a machine that does not do it by itself."""
        key = f"{reservation.reservation_id}-1"
        await until(lambda: key in self.sessions[rank].sessions)
        ready = session_pb2.SessionReady(host_key=f"host key {rank}", user="dev")
        await self.sessions[rank].sessions[key].add(ready=ready)

    async def over(self, reservation: reservations_pb2.Reservation) -> reservations_pb2.Reservation:
        await self.cluster.reservation_events(reservation.reservation_id)
        return await self.cluster.reservation(reservation.reservation_id)

    def nothing_is_held(self) -> None:
        """All sessions are over, and all leases given back."""
        assert not self.cluster.pool.live
        for one in (session for those in self.sessions for session in those.sessions.values()):
            assert one.events[-1].HasField("ended")


@asynccontextmanager
async def two_machines(data_dir: Path, **settings: Any) -> AsyncGenerator[Machines]:
    async with scripted_cluster(data_dir, **settings) as cluster:
        other = ScriptedSessions()  # pyright: ignore[reportAbstractUsage]
        server = grpc.aio.server()
        port = server.add_insecure_port("127.0.0.1:0")
        session_pb2_grpc.add_SessionServiceServicer_to_server(other, server)
        await server.start()
        cluster.pool.endpoints["machine-b"] = f"127.0.0.1:{port}"
        for name in ("machine-a", "machine-b"):
            await cluster.pool.tell(name, "WARM", gpus=8)
        try:
            yield Machines(cluster, (cluster.sessions, other))
        finally:
            await cluster.stop()
            await server.stop(0)


@pytest.fixture
async def machines(tmp_path: Path) -> AsyncIterator[Machines]:
    async with two_machines(tmp_path) as found:
        await found.cluster.start()
        await found.cluster.knows_machines()
        yield found


async def test_who_is_let_in_while_the_pool_is_asked_for_machines_is_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers, place = asyncio.Event(), asyncio.Event(), Pool.place

    async def slow(*words: Any, **more: Any) -> Any:
        asked.set()
        await answers.wait()
        return await place(*words, **more)

    monkeypatch.setattr(Pool, "place", slow)
    async with two_machines(tmp_path) as machines:
        await machines.cluster.start()
        reservation = await machines.made()
        await asyncio.wait_for(asked.wait(), TIMEOUT_SECONDS)
        bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
        await update(machines.cluster, reservation, add_keys=[bob])
        await update(machines.cluster, reservation, remove_users=["alice"])
        answers.set()
        await machines.cluster.reservation_events(reservation.reservation_id, "active")

        active = await machines.cluster.reservation(reservation.reservation_id)
        assert [key.user for key in active.spec.keys] == ["bob"]
        # The leases of the first try are given back.
        opened = [session.request for session in machines.cluster.sessions.sessions.values()]
        assert [[key.user for key in request.keys] for request in opened] == [["bob"]]


async def test_sixteen_gpus_are_two_whole_machines_of_one_reservation(machines: Machines) -> None:
    reservation = await machines.active()
    assert reservation.state == STATE.RESERVATION_STATE_ACTIVE
    assert (reservation.spec.gpus, reservation.machine_id) == (16, "machine-a")
    assert [(node.rank, node.machine_id) for node in reservation.nodes] == [(0, "machine-a"), (1, "machine-b")]
    assert [list(node.machine_gpus) for node in reservation.nodes] == [list(range(8))] * 2
    (granted,) = machines.cluster.pool.granted
    assert [one.machine_id for one in granted.placements] == ["machine-a", "machine-b"]
    listed = await machines.cluster.reservations.ListReservations(
        reservations_pb2.ListReservationsRequest(account_ids=[ACCOUNT]), timeout=TIMEOUT_SECONDS
    )
    assert [one.reservation_id for one in listed.reservations] == [reservation.reservation_id]
    assert reservation.hold_micros == 16 * PRICE
    (hold,) = machines.cluster.billing.holds.values()
    assert (hold.gpu_count, hold.eighths) == (16, 8)


async def test_its_machines_know_one_another_and_share_a_secret_of_their_own(machines: Machines) -> None:
    reservation = await machines.active(key="first")
    gangs = [machines.session(reservation, rank).request.gang for rank in range(2)]
    lasts = machines.session(reservation, 1).request.lasts.ToTimedelta()
    assert lasts == HOUR + LONGEST_PREPARING, "one that is ready early waits for the others"
    assert [gang.rank for gang in gangs] == [0, 1]
    for gang in gangs:
        assert [(node.name, node.address) for node in gang.nodes] == [
            ("node-0", "10.128.0.97"),
            ("node-1", "10.128.0.98"),
        ]
        assert (gang.gang_id, gang.ssh_seed) == (gangs[0].gang_id, gangs[0].ssh_seed)
    assert len(gangs[0].ssh_seed) == SEED_BYTES
    await cancel(machines.cluster, reservation)
    second = await machines.active(key="second")
    assert machines.session(second, 0).request.gang.ssh_seed != gangs[0].ssh_seed


async def test_its_time_begins_when_the_last_machine_is_ready(machines: Machines) -> None:
    machines.sessions[1].opens = False
    made = await machines.made()
    await machines.cluster.reservation_events(made.reservation_id, "ready")
    waits = await machines.cluster.reservation(made.reservation_id)
    assert (waits.state, waits.HasField("active_time")) == (STATE.RESERVATION_STATE_PREPARING, False)
    assert [node.HasField("ready_time") for node in waits.nodes] == [True, False]
    await machines.is_ready(made, 1)
    events = await machines.cluster.reservation_events(made.reservation_id, "active")
    assert [event.node for event in events if event.session.HasField("ready")] == [0, 1]
    reservation = await machines.cluster.reservation(made.reservation_id)
    assert reservation.active_time == reservation.nodes[1].ready_time
    assert [node.host_key for node in reservation.nodes][1] == "host key 1"
    await until(lambda: bool(machines.sessions[0].updates and machines.sessions[1].updates))
    ends = {sessions.updates[-1].end_time.ToDatetime() for sessions in machines.sessions}
    assert ends == {reservation.expire_time.ToDatetime()}


async def test_one_that_finds_one_free_machine_takes_none_and_keeps_it_from_long_work(machines: Machines) -> None:
    cluster = machines.cluster
    first = await cluster.reserve("first", gpus=8)
    await cluster.reservation_events(first.reservation_id, "active")
    gang = await machines.made(key="gang")
    behind = await cluster.reserve("behind", gpus=8)
    await until(lambda: bool(cluster.pool.demands and cluster.pool.demands[-1] == {"MI300X": 3}))
    assert len(cluster.pool.granted) == 1, "neither the gang nor who came behind it has a machine"
    await cancel(cluster, first)
    await cluster.reservation_events(gang.reservation_id, "active")
    assert (await cluster.reservation(behind.reservation_id)).state == STATE.RESERVATION_STATE_QUEUED


async def test_its_wait_is_estimated_until_enough_whole_machines_are_free_or_it_is_said_why_not(
    machines: Machines,
) -> None:
    cluster = machines.cluster
    first = await cluster.reserve("first", gpus=8)
    await cluster.reservation_events(first.reservation_id, "active")
    made = await machines.made(key="gang")
    waits = (await cluster.reservation(made.reservation_id)).eta_p90.ToTimedelta()
    assert timedelta(minutes=59) < waits <= HOUR + GRACE
    three = await machines.made(key="three", gpus=24)
    assert not (await cluster.reservation(three.reservation_id)).HasField("eta_p50")
    asked = queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=three.reservation_id)
    queues = queues_pb2_grpc.QueueServiceStub(cluster.channel)
    explained = await queues.ExplainJob(asked, timeout=TIMEOUT_SECONDS)
    assert not explained.HasField("eta_p50")
    unknown = "How long it waits is not known: it takes 3 whole machines, and fewer are there or on their way."
    assert explained.reason.endswith(unknown)


async def test_why_names_the_one_that_machines_are_kept_for_once_and_not_as_its_own_obstacle(
    machines: Machines,
) -> None:
    cluster = machines.cluster
    one = await cluster.reserve(key="one", gpus=8)
    await cluster.reservation_events(one.reservation_id, "active")
    both = await machines.made(key="both")
    late = await cluster.reserve(key="late", gpus=1, duration={"seconds": 7200})
    assert cluster.channel
    queues = queues_pb2_grpc.QueueServiceStub(cluster.channel)

    async def reasons(job_id: str) -> list[str]:
        asked = queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=job_id)
        explained = await queues.ExplainJob(asked, timeout=TIMEOUT_SECONDS)
        return [machine.reason for machine in explained.machines]

    kept = [reason for reason in await reasons(late.reservation_id) if "is kept for" in reason]
    assert len(kept) == 1
    assert kept[0].count(both.reservation_id) == 1
    assert "it is kept for this job until its other machines are free, too" in await reasons(both.reservation_id)


async def test_two_that_want_the_same_machines_have_them_one_after_the_other(machines: Machines) -> None:
    first = await machines.active(key="first")
    second = await machines.made(key="second")
    await cancel(machines.cluster, first)
    await machines.cluster.reservation_events(second.reservation_id, "active")
    assert [len(one.placements) for one in machines.cluster.pool.granted] == [2, 2]


async def test_a_cancelled_one_pays_for_all_its_gpus_and_ends_on_all_machines(tmp_path: Path) -> None:
    async with two_machines(tmp_path) as machines:
        clock = machines.cluster.clock = LaterClock()
        await machines.cluster.start()
        reservation = await machines.active()
        for rank in range(2):
            machines.session(reservation, rank).clock = clock
        clock.later = timedelta(minutes=2, seconds=30)
        await cancel(machines.cluster, reservation)
        over = await machines.over(reservation)
        used = timedelta(seconds=150)
        assert price_of(used, 16 * PRICE) <= over.cost_micros <= price_of(used + timedelta(seconds=30), 16 * PRICE)
        assert over.state == STATE.RESERVATION_STATE_CANCELLED
        machines.nothing_is_held()


async def test_more_time_and_other_users_reach_all_machines(machines: Machines) -> None:
    reservation = await machines.active()
    extended = await extend(machines.cluster, reservation, HOUR)
    key = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    await update(machines.cluster, reservation, add_keys=[key])
    assert extended.hold_micros == 2 * 16 * PRICE
    for sessions in machines.sessions:
        assert sessions.updates[-1].end_time == extended.expire_time
        assert [one.user for one in sessions.updates[-1].keys.keys] == ["alice", "bob"]


async def test_a_machine_that_is_lost_ends_the_others_and_is_named(machines: Machines) -> None:
    reservation = await machines.active()
    await machines.cluster.pool.tell("machine-b", "LOST", reason="it went up in smoke", gpus=8)
    over = await machines.over(reservation)
    assert over.state == STATE.RESERVATION_STATE_FAILED
    assert "its machine machine-b is gone (it went up in smoke)" in over.message
    assert (over.cost_micros, machines.cluster.pool.live) == (0, set())
    assert machines.session(reservation, 0).events[-1].HasField("ended")


async def test_a_session_that_ends_by_a_fault_fails_the_reservation_and_names_its_machine(machines: Machines) -> None:
    reservation = await machines.active()
    await machines.session(reservation, 1).end("FAILED")
    over = await machines.over(reservation)
    assert over.state == STATE.RESERVATION_STATE_FAILED
    assert "on the machine machine-b (node 1) ended (failed" in over.message
    machines.nothing_is_held()
    assert {one.lease_id for one in machines.cluster.pool.releases if one.machine_suspect} == {"lease-2"}


async def test_a_session_that_is_ended_from_inside_ends_the_others_with_the_charge(machines: Machines) -> None:
    reservation = await machines.active()
    await machines.session(reservation, 1).end("SANDBOX_ENDED")
    over = await machines.over(reservation)
    assert over.state == STATE.RESERVATION_STATE_EXPIRED
    assert over.message == "Its session was ended from inside, or ran out of memory."
    assert over.cost_micros > 0
    machines.nothing_is_held()


async def test_the_time_that_is_up_is_up_for_all(machines: Machines) -> None:
    reservation = await machines.active()
    end = reservation.expire_time.ToDatetime(UTC)
    await machines.session(reservation, 1).end("EXPIRED", end)
    await machines.session(reservation, 0).end("EXPIRED", end)
    over = await machines.over(reservation)
    assert (over.state, over.cost_micros) == (STATE.RESERVATION_STATE_EXPIRED, 16 * PRICE)
    machines.nothing_is_held()


async def test_a_machine_that_takes_no_session_puts_all_back_in_the_queue(machines: Machines) -> None:
    machines.sessions[1].refusal = grpc.StatusCode.ABORTED
    made = await machines.made()
    events = await machines.cluster.reservation_events(made.reservation_id, "retrying")
    assert "the machine machine-b (node 1) took no session" in events[-1].retrying.reason
    machines.sessions[1].refusal = None
    await machines.cluster.reservation_events(made.reservation_id, "active")
    assert [one.attempt for one in machines.cluster.pool.granted] == [1, 2]
    unfit = {one.lease_id: bool(one.unfit_reason) for one in machines.cluster.pool.releases}
    assert unfit == {"lease-1": False, "lease-2": True}


async def test_one_that_is_cancelled_while_it_is_prepared_ends_on_all_machines(machines: Machines) -> None:
    machines.sessions[1].opens = False
    made = await machines.made()
    await machines.cluster.reservation_events(made.reservation_id, "ready")
    await until(lambda: bool(machines.sessions[1].sessions))
    await cancel(machines.cluster, made)
    over = await machines.over(made)
    assert (over.state, over.cost_micros) == (STATE.RESERVATION_STATE_CANCELLED, 0)
    machines.nothing_is_held()


async def test_a_new_scheduler_goes_on_with_all_machines(machines: Machines) -> None:
    machines.sessions[1].opens = False
    made = await machines.made()
    await machines.cluster.reservation_events(made.reservation_id, "ready")
    await machines.cluster.stop()
    await machines.is_ready(made, 1)
    await machines.cluster.start()
    await machines.cluster.reservation_events(made.reservation_id, "active")
    await machines.session(made, 1).end("FAILED")
    await machines.cluster.stop()
    await machines.cluster.start()
    over = await machines.over(made)
    assert (over.state, machines.cluster.pool.live) == (STATE.RESERVATION_STATE_FAILED, set())


async def test_leases_that_no_row_has_are_no_half_reservation(tmp_path: Path) -> None:
    async with two_machines(tmp_path) as machines:
        await machines.cluster.start()
        machines.cluster.pool.refusal = grpc.StatusCode.DEADLINE_EXCEEDED
        made = await machines.made()
        await until(lambda: machines.cluster.pool.refused > 0)
        await machines.cluster.stop()
        machines.cluster.pool.refusal = None
        await machines.cluster.start()
        await machines.cluster.reservation_events(made.reservation_id, "active")
        assert len(machines.cluster.pool.granted) == 1


async def test_a_login_on_any_machine_is_a_login(tmp_path: Path) -> None:
    async with two_machines(tmp_path, no_show_after=timedelta(hours=1)) as machines:
        clock = machines.cluster.clock = LaterClock()
        await machines.cluster.start()
        reservation = await machines.active(duration={"seconds": 7200})
        await machines.session(reservation, 1).add(login=session_pb2.SessionLogin(user="alice"))
        await machines.cluster.reservation_events(reservation.reservation_id, "login")
        clock.later = timedelta(minutes=61)
        await machines.cluster.stop()
        await machines.cluster.start()
        await charged(machines.cluster, reservation, 16 * timedelta(minutes=61))
        there = await machines.cluster.reservation(reservation.reservation_id)
        assert (there.state, there.connections) == (STATE.RESERVATION_STATE_ACTIVE, 1)


async def test_the_way_in_is_to_one_of_the_machines(machines: Machines) -> None:
    reservation = await machines.active()
    leases = {lease.machine_id: lease.lease_id for lease in machines.cluster.pool.gangs[reservation.reservation_id, 1]}
    way = {"account_ids": [ACCOUNT], "reservation_id": reservation.reservation_id}
    for node in reservation.nodes:
        request = reservations_pb2.GetTunnelTargetRequest(**way, node=node.rank)
        found = await machines.cluster.reservations.GetTunnelTarget(request, timeout=TIMEOUT_SECONDS)
        assert found.lease_id == leases[node.machine_id]
        host = f"wp-{reservation.reservation_id[-8:]}{f'-{node.rank}' if node.rank else ''}"
        by_key = reservations_pb2.FindTunnelTargetRequest(public_key=reservation.spec.keys[0].public_key, host=host)
        opened = await machines.cluster.reservations.FindTunnelTarget(by_key, timeout=TIMEOUT_SECONDS)
        assert opened.lease_id == leases[node.machine_id]
    request = reservations_pb2.GetTunnelTargetRequest(**way, node=2)
    await refused(
        machines.cluster.reservations.GetTunnelTarget(request, timeout=TIMEOUT_SECONDS),
        grpc.StatusCode.INVALID_ARGUMENT,
        "node: is 2; the reservation has 2 machines, of rank 0 to 1",
    )


async def test_more_machines_than_the_pool_may_have_are_refused(machines: Machines) -> None:
    machines.cluster.pool.max_machines = 2
    error = await refused(machines.made(gpus=24), grpc.StatusCode.INVALID_ARGUMENT)
    said = "is 24, which takes 3 machines; the pool may have 2 machines (VMPOOL_MAX_MACHINES)"
    assert said in error.message


async def test_machines_that_do_not_reach_one_another_are_refused_with_the_setting(machines: Machines) -> None:
    pool = machines.cluster.pool
    pool.max_machines, pool.machine_network = 6, ""
    await refused(
        machines.made(),
        grpc.StatusCode.INVALID_ARGUMENT,
        "spec.distributed: needs machines that reach one another",
        "(VMPOOL_MACHINE_NETWORK)",
    )
    pool.gpus_per_machine = 8
    assert (await machines.made(key="one", gpus=8, distributed=False, allow_slow_links=False)).reservation_id


async def test_machines_without_a_promised_link_are_refused_unless_that_will_do(machines: Machines) -> None:
    await refused(machines.made(allow_slow_links=False), f"spec.distributed: {NO_LINKS}")


async def test_a_text_reaches_the_terminals_of_all_machines(machines: Machines) -> None:
    reservation = await machines.active()
    request = reservations_pb2.NotifyReservationRequest(**named(reservation), text="soon")
    answer = await machines.cluster.reservations.NotifyReservation(request, timeout=TIMEOUT_SECONDS)
    assert answer.terminals == 4
    assert [sessions.texts for sessions in machines.sessions] == [["soon"], ["soon"]]


async def test_short_work_runs_on_what_is_kept(machines: Machines) -> None:
    cluster = machines.cluster
    first = await cluster.reserve("first", gpus=8)
    await cluster.reservation_events(first.reservation_id, "active")
    gang = await machines.made(key="gang")
    job = await cluster.submit("job")
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not (await cluster.job(job.job_id)).machine_id:
            await asyncio.sleep(0.005)
    of_first = (await cluster.reservation(first.reservation_id)).machine_id
    assert {(await cluster.job(job.job_id)).machine_id, of_first} == {"machine-a", "machine-b"}
    assert (await cluster.reservation(gang.reservation_id)).state == STATE.RESERVATION_STATE_QUEUED


@pytest.mark.parametrize("policy", [0, FAIRNESS_POLICY_KUEUE])
async def test_a_run_gives_way_to_one_whose_queue_takes_back_its_share_and_runs_again(
    machines: Machines, policy: int
) -> None:
    cluster, at_once = machines.cluster, {"reclaim_min_runtime": Duration()}
    teams = (team(name, quota, parent="lab", **at_once) for name, quota in (("owner", 16), ("guest", 0)))
    await apply(cluster, team("lab", 16, policy=policy, **at_once), *teams)
    cluster.gate()
    first = await cluster.reserve("first", gpus=8, queue="owner")
    await cluster.reservation_events(first.reservation_id, "active")
    guest = await cluster.running("guest", queue="guest")
    await cancel(cluster, first)
    gang = await machines.made(key="gang", queue="owner")
    await cluster.reservation_events(gang.reservation_id, "active")
    lost = await cluster.event(guest.job_id, lambda event: event.HasField("retrying"))
    assert "queue owner takes back its share" in lost.retrying.reason
    assert (await cluster.job(guest.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED


@asynccontextmanager
async def later_machines(data_dir: Path, **settings: Any) -> AsyncGenerator[tuple[Machines, LaterClock]]:
    """Two machines, a scheduler that runs, and a clock that a test moves."""
    async with two_machines(data_dir, **settings) as machines:
        clock = machines.cluster.clock = LaterClock()
        for sessions in machines.sessions:
            sessions.clock = clock
        await machines.cluster.start()
        assert machines.cluster.scheduler
        dated_book = machines.cluster.scheduler.dated
        await until(lambda: dated_book.is_loaded)
        yield machines, clock


async def calendar_machines(cluster: Cluster) -> list[str]:
    """The machines of the first reservation in the calendar."""
    found = await cluster.reservations.GetCalendar(reservations_pb2.GetCalendarRequest())
    return sorted([found.entries[0].machine_id, *found.entries[0].more_machine_ids])


async def test_one_that_starts_later_has_all_its_machines_then_and_pays_from_then(tmp_path: Path) -> None:
    async with later_machines(tmp_path) as (machines, clock):
        cluster = machines.cluster
        made = await machines.made(start_time=start_in(clock, HOUR))
        assert (made.state, made.hold_micros) == (STATE.RESERVATION_STATE_PENDING, 16 * PRICE)
        assert await calendar_machines(cluster) == ["machine-a", "machine-b"]
        long = await cluster.reserve("long", gpus=1)
        short = await cluster.reserve("short", gpus=1, duration={"seconds": 1800})
        await cluster.reservation_events(short.reservation_id, "active")
        assert (await cluster.reservation(long.reservation_id)).state == STATE.RESERVATION_STATE_QUEUED
        await cancel(cluster, short)
        await cluster.reservation_events(short.reservation_id)
        clock.later = HOUR - cluster.settings.dated_lead
        await cluster.reservation_events(made.reservation_id, "active")
        there = await cluster.reservation(made.reservation_id)
        assert there.active_time == made.spec.start_time
        assert {node.machine_id for node in there.nodes} == {"machine-a", "machine-b"}
        assert await calendar_machines(cluster) == ["machine-a", "machine-b"]
        for rank in range(2):
            opened = machines.session(there, rank).request
            assert (opened.end_time, opened.lasts.ToTimedelta()) == (there.expire_time, timedelta(0))
        assert (await cluster.reservation(long.reservation_id)).state == STATE.RESERVATION_STATE_QUEUED


async def test_who_comes_before_its_start_pays_once_all_its_machines_are_ready(tmp_path: Path) -> None:
    async with later_machines(tmp_path) as (machines, clock):
        machines.sessions[1].opens = False
        made = await machines.made(start_time=start_in(clock, HOUR))
        clock.later = HOUR - timedelta(minutes=5)
        await machines.cluster.reservation_events(made.reservation_id, "ready")
        await machines.session(made, 0).add(login=session_pb2.SessionLogin(user="alice"))
        await machines.cluster.reservation_events(made.reservation_id, "login")
        clock.later = HOUR - timedelta(minutes=3)
        await machines.is_ready(made, 1)
        await machines.cluster.reservation_events(made.reservation_id, "active")
        await machines.session(made, 1).add(login=session_pb2.SessionLogin(user="alice"))
        there = await machines.cluster.reservation(made.reservation_id)
        while there.active_time == made.spec.start_time:
            there = await machines.cluster.reservation(made.reservation_id)
        last = there.nodes[1].ready_time.ToDatetime()
        assert last <= there.active_time.ToDatetime() < made.spec.start_time.ToDatetime()


async def test_a_start_at_which_not_all_machines_are_free_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    async with later_machines(tmp_path, most_dated_gpus_of_user=64) as (machines, clock):
        one = await machines.cluster.reserve("one", gpus=1, name="lecture", start_time=start_in(clock, HOUR))
        error = await refused(
            machines.made(key="refused", start_time=start_in(clock, HOUR + HALF)), grpc.StatusCode.FAILED_PRECONDITION
        )
        ((field, said),) = error.violations
        nearest = one.spec.start_time.ToDatetime() + HOUR
        assert field == "spec.start_time"
        assert "15 GPUs are free until" in said
        assert "it needs 16 GPUs of 2 whole machines" in said
        assert (
            f"In the way: {one.reservation_id} (lecture). The nearest start that works is {nearest:%Y-%m-%d %H:%M:%S}"
            in said
        )
        after = Timestamp(seconds=one.spec.start_time.seconds + 3600)
        made = await machines.made(key="after", start_time=after)
        assert made.state == STATE.RESERVATION_STATE_PENDING
        few = await refused(machines.cluster.reserve("few", gpus=1, start_time=after))
        assert f"In the way: {one.reservation_id}" not in few.message
        assert made.reservation_id in few.message


async def test_more_machines_than_there_may_be_or_than_a_user_may_have_ahead_are_refused(tmp_path: Path) -> None:
    async with later_machines(tmp_path, most_dated_gpus_of_user=24) as (machines, clock):
        start = start_in(clock, HOUR)
        said = (await refused(machines.made(gpus=24, start_time=start))).message
        assert "2 machines have so many GPUs, those that the pool may start among them" in said
        assert "it needs 24 GPUs of 3 whole machines" in said
        machines.cluster.pool.max_machines, machines.cluster.pool.gpus_per_machine = 6, 8
        await machines.made(key="first", start_time=start)
        said = (await refused(machines.made(key="second", start_time=start))).message
        assert "have 16 GPUs, of 24 for each user" in said


async def test_one_whose_machines_are_not_all_there_at_its_start_takes_none_and_fails_in_the_end(
    tmp_path: Path,
) -> None:
    async with later_machines(tmp_path) as (machines, clock):
        cluster = machines.cluster
        # The pool may start another one, and does not manage to.
        cluster.pool.max_machines, cluster.pool.gpus_per_machine = 2, 8
        made = await machines.made(start_time=start_in(clock, HOUR))
        await cluster.pool.tell("machine-b", "LOST", gpus=8)
        clock.later = HOUR + timedelta(minutes=1)
        await cluster.reservation_events(made.reservation_id, "queued")
        behind = await cluster.reserve("behind", gpus=8)
        await until(lambda: bool(cluster.pool.demands and cluster.pool.demands[-1] == {"MI300X": 3}))
        assert not cluster.pool.granted
        clock.later = HOUR + timedelta(minutes=31)
        over = await machines.over(made)
        assert (over.state, over.cost_micros) == (STATE.RESERVATION_STATE_FAILED, 0)
        assert "SCHEDULER_DATED_START_WITHIN" in over.message
        await cluster.reservation_events(behind.reservation_id, "active")


async def test_one_that_starts_later_is_ended_on_all_machines_if_nobody_comes(tmp_path: Path) -> None:
    async with later_machines(tmp_path, dated_no_show_after=timedelta(minutes=30)) as (machines, clock):
        made = await machines.made(start_time=start_in(clock, HOUR))
        clock.later = HOUR
        await machines.cluster.reservation_events(made.reservation_id, "active")
        clock.later = HOUR + timedelta(minutes=31)
        await machines.cluster.stop()
        await machines.cluster.start()
        over = await machines.over(made)
        assert over.state == STATE.RESERVATION_STATE_CANCELLED
        assert "SCHEDULER_DATED_NO_SHOW_AFTER" in over.message
        assert 16 * PRICE // 2 <= over.cost_micros < 16 * PRICE
        machines.nothing_is_held()


OTHER_TYPE: dict[str, Any] = {"gpus": 8, "gpu_type": "MI210"}


async def test_it_gets_machines_of_another_type_that_will_do_if_all_of_them_are_free(machines: Machines) -> None:
    cluster = machines.cluster
    cluster.billing.prices["MI210"] = PRICE // 2
    one = await cluster.reserve("one", gpus=8)
    await cluster.reservation_events(one.reservation_id, "active")
    await cluster.pool.tell("machine-c", "WARM", **OTHER_TYPE)
    made = await machines.made(key="gang", fallback_gpu_types=["MI210"])
    assert made.hold_micros == 16 * PRICE, "as much as the dearest type costs"
    waits = await cluster.reservation(made.reservation_id)
    assert waits.state == STATE.RESERVATION_STATE_QUEUED, "one of each type are not two of one"
    assert timedelta(minutes=59) < waits.eta_p50.ToTimedelta() <= HOUR + GRACE, "those of its own type are kept"
    cluster.pool.endpoints["machine-d"] = cluster.pool.endpoints["machine-b"]
    await cluster.pool.tell("machine-d", "WARM", **OTHER_TYPE)
    await cluster.reservation_events(made.reservation_id, "active")
    there = await cluster.reservation(made.reservation_id)
    assert (there.machine_gpu_type, there.price_micros_per_hour) == ("MI210", PRICE // 2)
    assert {node.machine_id for node in there.nodes} == {"machine-c", "machine-d"}


async def test_it_takes_its_own_type_before_another_one(machines: Machines) -> None:
    for name in ("machine-0", "machine-1"):
        await machines.cluster.pool.tell(name, "WARM", **OTHER_TYPE)
    there = await machines.active(fallback_gpu_types=["MI210"])
    assert there.machine_gpu_type == "MI300X"


async def test_machines_of_the_first_type_that_has_enough_are_kept_for_it(machines: Machines) -> None:
    cluster = machines.cluster
    for name in ("machine-c", "machine-d", "machine-e"):
        await cluster.pool.tell(name, "WARM", **OTHER_TYPE)
    one = await cluster.reserve("one", gpus=8, gpu_type="MI210")
    await cluster.reservation_events(one.reservation_id, "active")
    made = await machines.made(key="gang", gpus=24, fallback_gpu_types=["MI210"])
    await cluster.reserve("long", gpus=8, gpu_type="MI210")
    await until(lambda: bool(cluster.pool.demands and cluster.pool.demands[-1] == {"MI210": 4}))
    assert (await cluster.reservation(made.reservation_id)).state == STATE.RESERVATION_STATE_QUEUED
    assert [granted.job_id for granted in cluster.pool.granted] == [one.reservation_id]


async def test_machines_are_asked_for_of_one_type_at_a_time_the_next_if_there_is_none(machines: Machines) -> None:
    pool = machines.cluster.pool
    pool.blocked_by_gpu_type["MI300X"] = "MI300X is sold out"
    await machines.made(gpus=24, fallback_gpu_types=["MI210", "MI250X"])
    await until(lambda: {"MI210": 3} in pool.demands)
    assert [one for one in pool.demands if one][:2] == [{"MI300X": 3}, {"MI210": 3}]
