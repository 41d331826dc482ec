"""Reservations with an image of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2

from services.scheduler import metrics
from services.scheduler.store.build_store import KEPT, MOST_OF_ACCOUNT, BuildStore
from tests.build_contexts import packed
from tests.image_registry import file, layer
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, Cluster, until
from tests.services.scheduler.scripted_sessions import ScriptedSession
from tests.services.scheduler.test_disks import over, session_of
from tests.services.scheduler.test_gangs import two_machines
from tests.services.scheduler.test_reservations import active
from vocabulary.build_contexts import context_digest

IMAGE = "registry.example:5000/team/rocm:6.2"
DIGEST = "sha256:" + "1" * 64
OTHER_DIGEST = "sha256:" + "2" * 64


async def opening(cluster: Cluster) -> tuple[reservations_pb2.Reservation, ScriptedSession]:
    """A reservation with an image, and its session that is being opened."""
    reservation = await cluster.opening(image=IMAGE)
    return reservation, session_of(cluster, reservation)


async def end(session: ScriptedSession, reason: session_pb2.SessionEndReason.ValueType, details: str) -> None:
    await session.add(ended=session_pb2.SessionEnded(reason=reason, details=details))


async def test_the_machine_is_given_the_image_and_says_which_it_is(cluster: Cluster) -> None:
    reservation, session = await opening(cluster)
    assert session.request.image == IMAGE
    await session.add(fetching=session_pb2.SessionFetching(percent=50))
    await session.add(step=session_pb2.SessionStep(name="image"))
    await session.add(ready=session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev", image_digest=DIGEST))
    events = await cluster.reservation_events(reservation.reservation_id, "active")

    assert [one.session.fetching.percent for one in events if one.session.HasField("fetching")] == [50]
    shown = await cluster.reservation(reservation.reservation_id)
    assert (shown.spec.image, shown.image_digest) == (IMAGE, DIGEST)
    assert "image" in [step.name for step in shown.steps]
    listed = await cluster.reservations.ListReservations(
        reservations_pb2.ListReservationsRequest(), timeout=TIMEOUT_SECONDS
    )
    assert [one.spec.image for one in listed.reservations] == [IMAGE]


async def test_an_image_that_cannot_be_had_ends_the_reservation_uncharged_and_by_no_fault_of_ours(
    cluster: Cluster,
) -> None:
    reservation, session = await opening(cluster)
    words = f"The image {IMAGE} cannot be used: registry.example:5000 has no such image."
    before = metrics.attempts_lost._value.get()
    await end(session, session_pb2.SESSION_END_REASON_IMAGE, words)

    ended = await over(cluster, reservation)
    events = await cluster.reservation_events(reservation.reservation_id, "ended")
    assert [words in str(event) for event in events].count(True) == 1, events
    assert metrics.attempts_lost._value.get() == before
    assert ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    assert ended.message == f"{words} Nothing is charged."
    assert ended.cost_micros == 0
    assert len(cluster.sessions.sessions) == 1


@pytest.mark.parametrize(
    ("registries", "said"),
    [
        (["other.example"], "comes from registry.example:5000, and the machines here take images from other.example"),
        ([], "is set, and no machine here takes images"),
    ],
)
async def test_an_image_of_a_registry_that_no_machine_takes_is_refused_before_it_waits(
    stopped_cluster: Cluster, registries: list[str], said: str
) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-1", "WARM", registries=registries)
    await cluster.start()
    await cluster.knows_machines()
    await cluster.events_to_end((await cluster.submit("first")).job_id)
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    await refused(
        cluster.reserve("none", image=IMAGE), invalid, said, "(EXECUTOR_IMAGE_REGISTRIES)", field="spec.image"
    )
    assert not cluster.billing.open_holds()
    await cluster.pool.tell("machine-2", "WARM", registries=["registry.example:5000"])
    job = await cluster.submit("again")
    await cluster.events_to_end(job.job_id)
    await cluster.reserve("one", image=IMAGE)


async def test_an_image_that_cannot_be_had_now_is_tried_again(cluster: Cluster) -> None:
    reservation, session = await opening(cluster)
    cluster.sessions.opens = True
    await end(session, session_pb2.SESSION_END_REASON_IMAGE_UNAVAILABLE, "its registry does not answer")
    events = await cluster.reservation_events(reservation.reservation_id, "retrying")

    assert "its registry does not answer" in events[-1].retrying.reason


async def test_a_session_that_fails_with_an_image_says_nothing_of_its_machine(cluster: Cluster) -> None:
    reservation, session = await opening(cluster)
    await end(session, session_pb2.SESSION_END_REASON_FAILED, "sshd did not start")
    await cluster.reservation_events(reservation.reservation_id, "retrying")
    assert not [one for one in cluster.pool.releases if one.machine_suspect]


async def test_a_machine_that_knows_no_images_is_noticed_before_anybody_logs_in(cluster: Cluster) -> None:
    reservation = await cluster.reserve(image=IMAGE)
    ended = await over(cluster, reservation)
    assert ended.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "does not support images" in ended.message
    assert not ended.HasField("active_time")


@pytest.mark.parametrize("starts", [True, False])
async def test_a_machine_that_starts_no_command_of_an_image_is_noticed(cluster: Cluster, starts: bool) -> None:
    reservation = await cluster.opening(image=IMAGE, preserve_entrypoint=True)
    session = session_of(cluster, reservation)
    assert session.request.preserve_entrypoint
    ready = session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev", image_digest=DIGEST, runs_command=starts)
    await session.add(ready=ready)
    if starts:
        await session.add(command_ended=session_pb2.SessionCommandEnded(exit_status=3))
        events = await cluster.reservation_events(reservation.reservation_id, "command_ended")
        assert events[-1].session.command_ended.exit_status == 3
        assert (await cluster.reservation(reservation.reservation_id)).spec.preserve_entrypoint
    else:
        ended = await over(cluster, reservation)
        assert "cannot start the command of an image" in ended.message
        assert not ended.HasField("active_time")


async def test_a_command_of_no_image_is_refused(cluster: Cluster) -> None:
    await refused(
        cluster.reserve(preserve_entrypoint=True), grpc.StatusCode.INVALID_ARGUMENT, "spec.preserve_entrypoint"
    )


async def upload(cluster: Cluster, content: bytes, account_id: str = ACCOUNT) -> str:
    request = reservations_pb2.UploadBuildContextRequest(account_id=account_id, content=content)
    return (await cluster.reservations.UploadBuildContext(request, timeout=TIMEOUT_SECONDS)).digest


async def test_the_machine_is_given_what_the_image_is_built_from(cluster: Cluster) -> None:
    content = packed("FROM registry.example/tiny:1\n")
    digest = await upload(cluster, content)
    assert await upload(cluster, content) == digest
    reservation = await cluster.opening(build_digest=digest, preserve_entrypoint=True)
    session = session_of(cluster, reservation)
    assert (session.request.build_digest, session.request.build_context) == (digest, content)
    await session.add(building=session_pb2.SessionBuilding(text="STEP 1/1"))
    ready = session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev", image_digest=DIGEST, runs_command=True)
    await session.add(ready=ready)
    events = await cluster.reservation_events(reservation.reservation_id, "active")
    assert [one.session.building.text for one in events if one.session.HasField("building")] == ["STEP 1/1"]
    assert (await cluster.reservation(reservation.reservation_id)).spec.build_digest == digest


async def test_a_machine_that_builds_no_images_is_noticed(cluster: Cluster) -> None:
    digest = await upload(cluster, packed("FROM registry.example/tiny:1\n"))
    ended = await over(cluster, await cluster.reserve(build_digest=digest))
    assert "does not support images" in ended.message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "begin"),
        (b"no archive", "no tar with gzip"),
        (layer([file("other", "x"), file("Dockerfile", "FROM x")]), "does not begin with a file"),
        (layer([file("Dockerfile", "#" * (513 << 10))]), "the most are 524288"),
        (packed("FROM x") + bytes(8 << 20), "the most are 8388608: leave files out with a .dockerignore"),
    ],
)
async def test_what_nothing_can_be_built_from_is_refused(cluster: Cluster, content: bytes, why: str) -> None:
    error = await refused(upload(cluster, content), grpc.StatusCode.INVALID_ARGUMENT, "content")
    assert why in error.message or not content


async def test_only_what_the_account_has_sent_is_built(cluster: Cluster) -> None:
    digest = await upload(cluster, packed("FROM x"), "another")
    for name in (digest, "sha256:1", "../etc"):
        await refused(cluster.reserve(build_digest=name), grpc.StatusCode.INVALID_ARGUMENT, "spec.build_digest")
    mine = await upload(cluster, packed("FROM x"))
    assert mine == digest
    await refused(cluster.reserve(build_digest=mine, image=IMAGE), "together with an image")


async def test_what_nobody_needs_any_more_is_removed_after_a_day(cluster: Cluster) -> None:
    needed, other = packed("FROM a"), packed("FROM b")
    waiting = await cluster.opening(build_digest=await upload(cluster, needed))
    await upload(cluster, other)
    assert cluster.database is not None
    store = BuildStore(cluster.database)
    later = datetime.now(UTC) + KEPT + timedelta(hours=1)
    await store.add("another", "sha256:3", b"x", later)
    assert await store.has(ACCOUNT, waiting.spec.build_digest)
    assert not await store.has(ACCOUNT, context_digest(other))


async def test_an_account_has_so_many_at_a_time(cluster: Cluster) -> None:
    for number in range(MOST_OF_ACCOUNT):
        await upload(cluster, packed(f"FROM {number}"))
    await refused(upload(cluster, packed("FROM more")), grpc.StatusCode.RESOURCE_EXHAUSTED)
    await upload(cluster, packed("FROM 1"))
    await upload(cluster, packed("FROM more"), "another")


async def test_a_reservation_without_an_image_has_none(cluster: Cluster) -> None:
    reservation = await active(cluster)
    assert (reservation.spec.image, reservation.image_digest) == ("", "")
    assert session_of(cluster, reservation).request.image == ""


@pytest.mark.parametrize("image", ["debian", "debian:12", "https://registry.example/n", "registry.example/N"])
async def test_what_names_no_image_is_refused_by_its_field(cluster: Cluster, image: str) -> None:
    await refused(cluster.reserve(image=image), grpc.StatusCode.INVALID_ARGUMENT, "spec.image", repr(image))


async def test_several_machines_that_find_two_images_by_one_tag_all_get_the_first_one(tmp_path: Path) -> None:
    async with two_machines(tmp_path) as machines:
        await machines.cluster.start()
        for sessions in machines.sessions:
            sessions.opens = False
        made = await machines.made(image=IMAGE)
        for rank, digest in ((1, DIGEST), (0, OTHER_DIGEST)):
            key = f"{made.reservation_id}-1"
            await until(lambda rank=rank, key=key: key in machines.sessions[rank].sessions)
            await machines.session(made, rank).add(ready=ready_with(digest))
            await machines.cluster.reservation_events(made.reservation_id, "ready")
        events = await machines.cluster.reservation_events(made.reservation_id, "retrying")
        assert f"two images by one tag, {DIGEST} and {OTHER_DIGEST}" in events[-1].retrying.reason
        for rank in range(2):
            key = f"{made.reservation_id}-2"
            await until(lambda rank=rank, key=key: key in machines.sessions[rank].sessions)
            again = machines.session(made, rank, attempt=2)
            assert again.request.image == f"{IMAGE}@{DIGEST}"
            await again.add(ready=ready_with(DIGEST))
        await machines.cluster.reservation_events(made.reservation_id, "active")
        there = await machines.cluster.reservation(made.reservation_id)
        assert (there.spec.image, there.image_digest) == (f"{IMAGE}@{DIGEST}", DIGEST)
        assert not [one for one in machines.cluster.pool.releases if one.machine_suspect or one.unfit_reason]


async def test_one_machine_looks_its_tag_up_again_in_another_attempt(cluster: Cluster) -> None:
    reservation, session = await opening(cluster)
    await end(session, session_pb2.SESSION_END_REASON_IMAGE_UNAVAILABLE, "its registry does not answer")
    await cluster.reservation_events(reservation.reservation_id, "retrying")
    await until(lambda: f"{reservation.reservation_id}-2" in cluster.sessions.sessions)
    assert cluster.sessions.sessions[f"{reservation.reservation_id}-2"].request.image == IMAGE


def ready_with(digest: str) -> session_pb2.SessionReady:
    return session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev", image_digest=digest)
