"""Disks from their making to the next reservation's home, with a real scheduler beside scripted machines."""

from __future__ import annotations

import zlib
from datetime import UTC, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import disks_pb2, reservations_pb2

from services.scheduler import metrics
from services.scheduler.jobs.disk import Disk, DiskState
from services.scheduler.jobs.reservation_states import JOB_STATES, ReservationState
from services.scheduler.jobs.states import IN_FLIGHT_STATES
from services.scheduler.reservations.attempt import session_attempt
from tests.refused_calls import refused
from tests.services.scheduler.cluster import TIMEOUT_SECONDS, USER, Cluster, LaterClock
from tests.services.scheduler.jobs import START
from tests.services.scheduler.scripted_sessions import ScriptedSession
from tests.services.scheduler.test_reservations import PRICE, active, cancel, charged, kinds
from vocabulary.money import price_of

GIB = 1 << 30


async def create(cluster: Cluster, name: str = "work", user_id: str = USER, **fields: Any) -> disks_pb2.Disk:
    request = disks_pb2.CreateDiskRequest(user_id=user_id, name=name, **fields)
    return (await cluster.disks.CreateDisk(request, timeout=TIMEOUT_SECONDS)).disk


async def listed(cluster: Cluster, user_id: str = USER, **fields: Any) -> list[disks_pb2.Disk]:
    request = disks_pb2.ListDisksRequest(user_id=user_id, **fields)
    return list((await cluster.disks.ListDisks(request, timeout=TIMEOUT_SECONDS)).disks)


async def delete(cluster: Cluster, name: str = "work", user_id: str = USER) -> disks_pb2.Disk:
    request = disks_pb2.DeleteDiskRequest(user_id=user_id, name=name)
    return (await cluster.disks.DeleteDisk(request, timeout=TIMEOUT_SECONDS)).disk


def session_of(cluster: Cluster, reservation: reservations_pb2.Reservation) -> ScriptedSession:
    return cluster.sessions.sessions[f"{reservation.reservation_id}-1"]


async def snapshot(session: ScriptedSession, snapshot_id: str, **fields: Any) -> None:
    taken = session_pb2.SessionSnapshot(
        **{
            "reason": session_pb2.SNAPSHOT_REASON_END,
            "snapshot_id": snapshot_id,
            "store_id": "folder-1",
            "size_bytes": 6,
            "files": 1,
            "content": b"a list",
            **fields,
        }
    )
    taken.begin_time.FromDatetime(session.clock.now())
    await session.add(snapshot=taken)


async def over(cluster: Cluster, reservation: reservations_pb2.Reservation) -> reservations_pb2.Reservation:
    await cluster.reservation_events(reservation.reservation_id)
    return await cluster.reservation(reservation.reservation_id)


async def test_a_new_disk_is_empty_and_available(cluster: Cluster) -> None:
    made = await create(cluster)
    assert (made.name, made.state, made.size_limit_bytes) == ("work", disks_pb2.DISK_STATE_AVAILABLE, 100 * GIB)
    assert await listed(cluster) == [made]


@pytest.mark.parametrize("holder_state", [state for state, of in JOB_STATES.items() if of & IN_FLIGHT_STATES])
async def test_a_disk_that_a_reservation_has_is_not_available(holder_state: ReservationState) -> None:
    held = Disk("dsk_1", USER, "work", GIB, START, holder_id="res_1", holder_state=holder_state)
    assert held.state is not DiskState.AVAILABLE
    is_waiting = holder_state in {ReservationState.PENDING, ReservationState.QUEUED}
    assert (held.state is DiskState.WAITING) == is_waiting


async def test_names_are_unique_for_each_user_and_no_others_see_a_disk(cluster: Cluster) -> None:
    await create(cluster)
    await refused(create(cluster), grpc.StatusCode.ALREADY_EXISTS)
    await create(cluster, user_id="somebody-else")
    assert [disk.user_id for disk in await listed(cluster)] == [USER]
    assert len(await listed(cluster, "")) == 2
    await refused(delete(cluster, user_id="a third"), grpc.StatusCode.NOT_FOUND)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "none"}, "none"),
        ({"name": "Work"}, "name"),
        ({"name": "a--b"}, "name"),
        ({"name": ""}, "name"),
        ({"size_limit_bytes": -1}, "size_limit_bytes"),
        ({"size_limit_bytes": 101 * GIB}, "is 101 GiB; give at most 100 GiB (SCHEDULER_DISK_SIZE)"),
        ({"user_id": ""}, "user_id"),
    ],
)
async def test_a_wrong_disk_is_refused_by_its_field(cluster: Cluster, fields: dict[str, Any], field: str) -> None:
    await refused(create(cluster, **fields), grpc.StatusCode.INVALID_ARGUMENT, field)


async def test_a_user_has_so_many_disks_at_most(cluster: Cluster) -> None:
    for number in range(20):
        await create(cluster, f"disk-{number}")
    await refused(create(cluster, "one-more"), grpc.StatusCode.RESOURCE_EXHAUSTED)
    await delete(cluster, "disk-3")
    await create(cluster, "one-more")


async def test_an_unknown_disk_is_refused_with_the_nearest(cluster: Cluster) -> None:
    await create(cluster, "training")
    await refused(cluster.reserve(disk="trainin"), grpc.StatusCode.NOT_FOUND, "the nearest is training")


async def test_a_reservation_without_a_disk_has_none(cluster: Cluster) -> None:
    reservation = await active(cluster, disk="none")
    assert not session_of(cluster, reservation).request.HasField("disk")


async def test_a_session_with_a_disk_is_found_again_after_its_machine_was_silent(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await snapshot(session_of(cluster, reservation), "one", reason=session_pb2.SNAPSHOT_REASON_INTERVAL)
    await cluster.reservation_events(reservation.reservation_id, "snapshot")
    await cluster.sessions.fall_silent()
    cluster.sessions.silent.clear()
    await session_of(cluster, reservation).add(login=session_pb2.SessionLogin(connection=1, user="alice"))
    events = await cluster.reservation_events(reservation.reservation_id, "login")
    assert kinds(events)[-1] == "login"
    assert (await cluster.reservation(reservation.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE


async def test_the_next_reservation_begins_with_the_last_snapshot_of_the_one_before(cluster: Cluster) -> None:
    disk = await create(cluster, size_limit_bytes=5 * GIB)
    first = await active(cluster, disk="work")
    lent = session_of(cluster, first).request.disk
    assert (lent.disk_id, lent.name, lent.owner_id) == (disk.disk_id, "work", USER)
    assert (lent.snapshot_id, lent.store_id, lent.size_limit_bytes) == ("", "", 5 * GIB)
    assert (await listed(cluster))[0].state == disks_pb2.DISK_STATE_IN_USE
    await snapshot(session_of(cluster, first), "one", reason=session_pb2.SNAPSHOT_REASON_INTERVAL)
    await snapshot(session_of(cluster, first), "two")
    await session_of(cluster, first).end("EXPIRED")
    ended = await over(cluster, first)
    (kept,) = await listed(cluster)
    assert (kept.state, kept.reservation_id) == (disks_pb2.DISK_STATE_AVAILABLE, "")
    assert [(one.snapshot_id, one.reason) for one in kept.snapshots] == [("one", "interval"), ("two", "end")]
    assert kept.safe_time == kept.snapshots[1].time == ended.disk_safe_time
    second = await active(cluster, "second", disk="work")
    again = session_of(cluster, second).request.disk
    assert (again.snapshot_id, again.store_id, again.snapshot_bytes) == ("two", "folder-1", 6)
    assert again.password == lent.password
    assert len(again.password) > 30


async def test_the_list_of_files_is_not_in_the_events(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await snapshot(session_of(cluster, reservation), "one")
    events = await cluster.reservation_events(reservation.reservation_id, "snapshot")
    assert kinds(events)[-1] == "snapshot"
    assert events[-1].session.snapshot.snapshot_id == "one"
    assert not events[-1].session.snapshot.content


async def test_one_reservation_at_a_time_has_a_disk_and_the_refusal_says_which(cluster: Cluster) -> None:
    await create(cluster)
    holder = await active(cluster, disk="work")
    error = await refused(cluster.reserve("second", disk="work"), grpc.StatusCode.ABORTED)
    said = error.message
    assert all(word in said for word in (holder.reservation_id, "active", "--disk none", "wavepool disk clone work"))
    await refused(delete(cluster), grpc.StatusCode.ABORTED)
    await cancel(cluster, holder)
    await over(cluster, holder)
    await active(cluster, "third", disk="work")


async def test_a_repeated_call_gets_the_reservation_that_holds_the_disk(cluster: Cluster) -> None:
    await create(cluster)
    first = await active(cluster, disk="work")
    again = await cluster.reserve(disk="work")
    assert again.reservation_id == first.reservation_id
    assert (await listed(cluster))[0].reservation_id == first.reservation_id


async def test_a_reservation_that_was_refused_holds_no_disk(cluster: Cluster) -> None:
    await create(cluster)
    cluster.billing.refusals["ReserveCredit"] = grpc.StatusCode.FAILED_PRECONDITION
    await refused(cluster.reserve(disk="work"))
    assert (await listed(cluster))[0].state == disks_pb2.DISK_STATE_AVAILABLE


def counted() -> list[float]:
    return [metrics.snapshots.labels(result)._value.get() for result in ("taken", "unchanged", "failed")]


async def test_a_snapshot_that_failed_is_told_and_counted_and_the_one_before_stays(cluster: Cluster) -> None:
    before = counted()
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await snapshot(session_of(cluster, reservation), "one")
    await snapshot(session_of(cluster, reservation), "", fault="the home has more than 1 GiB")
    await session_of(cluster, reservation).end("EXPIRED")
    ended = await over(cluster, reservation)
    assert "Its disk work could not be saved at the end (the home has more than 1 GiB), and is kept as of" in (
        ended.message
    )
    assert [one.snapshot_id for one in (await listed(cluster))[0].snapshots] == ["one"]
    assert [now - then for now, then in zip(counted(), before, strict=True)] == [1, 0, 1]


async def test_an_unchanged_home_moves_only_the_time_until_which_it_is_safe(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    session = session_of(cluster, reservation)
    await snapshot(session, "one")
    await snapshot(session, "one", is_unchanged=True)
    await session.end("EXPIRED")
    await over(cluster, reservation)
    (disk,) = await listed(cluster)
    assert len(disk.snapshots) == 1
    assert disk.safe_time.ToNanoseconds() > disk.snapshots[0].time.ToNanoseconds()


async def test_only_the_last_snapshots_are_kept(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    for number in range(13):
        await snapshot(session_of(cluster, reservation), f"s-{number}")
    await session_of(cluster, reservation).end("EXPIRED")
    await over(cluster, reservation)
    kept = [one.snapshot_id for one in (await listed(cluster))[0].snapshots]
    assert kept == [f"s-{number}" for number in range(3, 13)]


async def test_a_deleted_disk_is_gone_from_the_list_and_its_name_is_free(cluster: Cluster) -> None:
    await create(cluster)
    deleted = await delete(cluster)
    assert deleted.state == disks_pb2.DISK_STATE_DELETED
    assert (deleted.remove_time.ToDatetime() - deleted.delete_time.ToDatetime()).days == 30
    assert await listed(cluster) == []
    await create(cluster)
    states = [one.state for one in await listed(cluster, with_deleted=True)]
    assert states == [disks_pb2.DISK_STATE_AVAILABLE, disks_pb2.DISK_STATE_DELETED]
    await refused(cluster.reserve(disk="other"), grpc.StatusCode.NOT_FOUND)


async def named(cluster: Cluster, call: str, **fields: Any) -> Any:
    """The answer of a call about the user's disk."""
    request = getattr(disks_pb2, f"{call}Request")(**{"user_id": USER, "name": "work", **fields})
    return await getattr(cluster.disks, call)(request, timeout=TIMEOUT_SECONDS)


async def saved(cluster: Cluster, *snapshot_ids: str, key: str = "key", content: bytes = b"") -> None:
    """Makes a reservation with the disk `work`, which takes these snapshots and ends."""
    reservation = await active(cluster, key, disk="work")
    for snapshot_id in snapshot_ids:
        await snapshot(session_of(cluster, reservation), snapshot_id, content=content)
    await session_of(cluster, reservation).end("EXPIRED")
    await over(cluster, reservation)


async def test_a_clone_begins_with_the_last_snapshot_of_its_original(cluster: Cluster) -> None:
    await create(cluster, size_limit_bytes=5 * GIB)
    await saved(cluster, "one", "two")
    clone = (await named(cluster, "CloneDisk", new_name="copy")).disk
    assert ([one.snapshot_id for one in clone.snapshots], clone.size_limit_bytes) == (["two"], 5 * GIB)
    reservation = await active(cluster, "second", disk="copy")
    assert session_of(cluster, reservation).request.disk.snapshot_id == "two"
    assert {disk.name: disk.reservation_id for disk in await listed(cluster)} == {
        "copy": reservation.reservation_id,
        "work": "",
    }


async def test_a_disk_in_use_can_be_cloned_but_not_renamed(cluster: Cluster) -> None:
    await create(cluster)
    await active(cluster, disk="work")
    assert (await named(cluster, "CloneDisk", new_name="copy")).disk.name == "copy"
    await refused(named(cluster, "RenameDisk", new_name="other"), grpc.StatusCode.ABORTED)


async def test_a_renamed_disk_is_found_by_its_new_name_alone(cluster: Cluster) -> None:
    await create(cluster)
    await create(cluster, "taken")
    await refused(named(cluster, "RenameDisk", new_name="taken"), grpc.StatusCode.ALREADY_EXISTS)
    await refused(named(cluster, "RenameDisk", new_name="No Name"), grpc.StatusCode.INVALID_ARGUMENT)
    await named(cluster, "RenameDisk", new_name="other")
    assert [disk.name for disk in await listed(cluster)] == ["other", "taken"]


async def test_the_files_of_the_last_snapshot_are_listed_without_a_machine(cluster: Cluster) -> None:
    await create(cluster)
    assert not (await named(cluster, "GetDiskContent")).HasField("snapshot")
    lines = ['["src/", 0, 1600000000]', '["src/a", 6, 1600000000]', '["…", 0, 0]']
    await saved(cluster, "one", content=zlib.compress("\n".join(lines).encode()))
    found = await named(cluster, "GetDiskContent")
    assert [(one.path, one.size_bytes, one.time.seconds) for one in found.files] == [
        ("src/", 0, 1_600_000_000),
        ("src/a", 6, 1_600_000_000),
    ]
    assert (found.is_cut, found.snapshot.snapshot_id) == (True, "one")


@pytest.mark.parametrize("content", [b"nonsense", zlib.compress(b'["a", 1'), zlib.compress(b'["a", 1, 1e400]')])
async def test_a_list_of_files_that_cannot_be_read_is_cut(cluster: Cluster, content: bytes) -> None:
    await create(cluster)
    await saved(cluster, "one", content=content)
    found = await named(cluster, "GetDiskContent")
    assert (list(found.files), found.is_cut) == ([], True)


async def test_a_snapshot_that_was_asked_for_is_there_once_it_is_answered(cluster: Cluster) -> None:
    await create(cluster)
    await refused(named(cluster, "SnapshotDisk"), grpc.StatusCode.FAILED_PRECONDITION)
    await active(cluster, disk="work")
    taken = session_pb2.SessionSnapshot(snapshot_id="one", store_id="folder-1", size_bytes=7, skipped=2)
    taken.reason = session_pb2.SNAPSHOT_REASON_REQUEST
    taken.begin_time.GetCurrentTime()
    cluster.sessions.snapshot = taken
    answer = await named(cluster, "SnapshotDisk")
    assert (answer.snapshot.size_bytes, answer.snapshot.reason, answer.skipped) == (7, "request", 2)
    assert [one.snapshot_id for one in (await listed(cluster))[0].snapshots] == ["one"]


async def test_a_snapshot_that_was_asked_for_and_failed_is_refused_with_its_reason(cluster: Cluster) -> None:
    await create(cluster)
    await active(cluster, disk="work")
    cluster.sessions.snapshot = session_pb2.SessionSnapshot(fault="the home has more than 1 GiB")
    await refused(named(cluster, "SnapshotDisk"), grpc.StatusCode.FAILED_PRECONDITION, "the home has more than 1 GiB")


async def test_snapshots_that_no_disk_has_are_removed_by_the_next_machine_that_has_their_place(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    cluster.settings = cluster.settings.model_copy(update={"deleted_disks_kept": timedelta(0), "disk_snapshots": 1})
    await cluster.start()
    await create(cluster)
    await create(cluster, "second")
    await saved(cluster, "one", "two")
    await named(cluster, "CloneDisk", new_name="copy")
    await delete(cluster)
    scheduler = cluster.scheduler
    assert scheduler
    pruner = next(loop for loop, _, _ in scheduler.duties if loop.name == "disk pruner")
    await pruner.run_once()
    assert [one.name for one in await listed(cluster, with_deleted=True)] == ["copy", "second"]
    cluster.sessions.store_id = "folder-1"
    await active(cluster, "second", disk="second")
    await cluster.sessions.removed.wait()
    (removal,) = cluster.sessions.removals
    # The clone has the last one.
    assert (removal.store_id, removal.owner_id, list(removal.snapshot_ids)) == ("folder-1", USER, ["one"])


async def test_what_was_charged_since_the_last_snapshot_is_given_back_if_the_machine_is_lost(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    cluster.clock = clock = LaterClock()
    cluster.sessions.clock = clock
    await cluster.start()
    await create(cluster)
    reservation = await active(cluster, disk="work", duration=Duration(seconds=7200))
    session = session_of(cluster, reservation)
    began = session.events[-1].time.ToDatetime(UTC)
    taken = session_pb2.SessionSnapshot(snapshot_id="one", store_id="folder-1")
    taken.begin_time.FromDatetime(began + timedelta(minutes=10))
    await session.add(snapshot=taken)
    await cluster.reservation_events(reservation.reservation_id, "snapshot")
    await cluster.stop()
    clock.later = timedelta(minutes=30)
    await cluster.start()
    await charged(cluster, reservation, timedelta(minutes=30))
    await cluster.pool.tell("machine-1", "LOST")
    lost = await over(cluster, reservation)
    assert lost.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert lost.cost_micros == price_of(timedelta(minutes=10), PRICE)
    assert sum(one.amount_micros for one in cluster.billing.refunds.values()) == price_of(
        timedelta(minutes=30), PRICE
    ) - price_of(timedelta(minutes=10), PRICE)
    assert "Its disk work is kept as of" in lost.message
    assert "for the 20 minutes since then is refunded" in lost.message
    assert (await listed(cluster))[0].state == disks_pb2.DISK_STATE_AVAILABLE


async def test_a_session_that_ended_while_the_scheduler_was_away_leaves_its_last_snapshot(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await cluster.stop()
    await snapshot(session_of(cluster, reservation), "one")
    await session_of(cluster, reservation).end("EXPIRED")
    await cluster.start()
    await over(cluster, reservation)
    (disk,) = await listed(cluster)
    assert ([one.snapshot_id for one in disk.snapshots], disk.state) == (["one"], disks_pb2.DISK_STATE_AVAILABLE)


async def test_the_last_snapshot_of_a_machine_that_is_stopped_is_heard_before_it_is_given_up(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await cluster.pool.tell("machine-1", "DRAINING", reason="somebody stopped it")
    await snapshot(session_of(cluster, reservation), "one")
    await session_of(cluster, reservation).end("EXECUTOR_STOPPED")
    failed = await over(cluster, reservation)
    assert failed.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "its machine is gone (somebody stopped it)" in failed.message
    assert [one.snapshot_id for one in (await listed(cluster))[0].snapshots] == ["one"]


async def test_who_loses_a_reservation_reads_why_even_if_the_pool_knows_it_after_the_machine(cluster: Cluster) -> None:
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await session_of(cluster, reservation).end("EXECUTOR_STOPPED")
    await cluster.pool.tell("machine-1", "STOPPED", reason="max_duration_exceeded")
    failed = await over(cluster, reservation)
    assert failed.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "its machine is gone (max_duration_exceeded)" in failed.message


async def test_a_machine_that_is_stopped_and_tells_nothing_more_is_given_up_all_the_same(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_attempt, "LAST_SNAPSHOT", timedelta(milliseconds=1))
    await create(cluster)
    reservation = await active(cluster, disk="work")
    await cluster.pool.tell("machine-1", "DRAINING")
    assert (await over(cluster, reservation)).state == reservations_pb2.RESERVATION_STATE_FAILED
