from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.errors import InvalidFieldError, StoppingError
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.queue.event_hub import MAX_PENDING_EVENTS, EventHub
from services.scheduler.runs.watcher import JobChanges, UnannouncedEvents, UnreadChanges, Watcher
from tests.services.scheduler.jobs import START, a_job


class Rows:
    """A log in memory that counts its queries."""

    def __init__(self) -> None:
        self.events_of: dict[str, list[JobEvent]] = {}
        self.reads = 0
        self.polls = 0

    def write(self, job_id: str, *, last: bool = False) -> JobEvent:
        log = self.events_of.setdefault(job_id, [])
        log.append(JobEvent(job_id, len(log) + 1, START, 1, 0, last, b""))
        return log[-1]

    async def events(self, job_id: str, after_seq: int, limit: int) -> list[JobEvent]:
        self.reads += 1
        return self.events_of.get(job_id, [])[after_seq : after_seq + limit]

    async def last_seqs(self, job_ids: Sequence[str]) -> dict[str, int]:
        self.polls += 1
        return {job_id: len(self.events_of[job_id]) for job_id in job_ids}


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def hub() -> EventHub:
    return EventHub()


async def collected(watcher: Watcher, job_id: str, after_seq: int = 0) -> list[int]:
    return [event.seq async for event in watcher.follow(job_id, after_seq)]


async def all_follow(hub: EventHub, followers: int) -> None:
    async with asyncio.timeout(60):
        while hub.followers < followers:
            await asyncio.sleep(0)


async def test_follower_sees_rows_and_then_what_is_announced(rows: Rows, hub: EventHub) -> None:
    rows.write("job")
    following = asyncio.create_task(collected(Watcher(rows, hub), "job"))  # pyright: ignore[reportArgumentType]
    await all_follow(hub, 1)
    for last in (False, True):
        hub.announce([rows.write("job", last=last)])
    assert await following == [1, 2, 3]
    assert hub.followers == 0


async def test_job_that_is_over_ends_the_stream_whatever_was_seen(rows: Rows, hub: EventHub) -> None:
    rows.write("job")
    rows.write("job", last=True)
    watcher = Watcher(rows, hub)  # pyright: ignore[reportArgumentType]
    assert await collected(watcher, "job", 0) == [1, 2]
    assert await collected(watcher, "job", 1) == [2]
    assert await collected(watcher, "job", 2) == []


@given(st.data())
async def test_every_event_comes_exactly_once_however_announcements_are_lost_or_swapped(data: st.DataObject) -> None:
    rows, hub = Rows(), EventHub()
    poller = UnannouncedEvents(rows, hub)  # pyright: ignore[reportArgumentType]
    total = data.draw(st.integers(1, 30))
    after = data.draw(st.integers(0, 3))
    for _ in range(after):
        rows.write("job")
    following = asyncio.create_task(collected(Watcher(rows, hub), "job", after))  # pyright: ignore[reportArgumentType]
    unannounced: list[JobEvent] = []
    for number in range(total):
        unannounced.append(rows.write("job", last=number == total - 1))
        fate = data.draw(st.sampled_from(["announced", "swapped", "lost", "polled", "late"]))
        for event in {"announced": unannounced, "swapped": unannounced[::-1]}.get(fate, []):
            hub.announce([event])
        if fate in {"announced", "swapped", "lost"}:
            unannounced = []
        if fate == "polled":
            await poller.run_once()
        for _ in range(data.draw(st.integers(0, 2))):
            await asyncio.sleep(0)
    async with asyncio.timeout(60):
        while not following.done():
            await poller.run_once()
            await asyncio.sleep(0)
    assert following.result() == list(range(after + 1, after + total + 1))


async def test_slow_reader_falls_back_to_the_rows(rows: Rows, hub: EventHub) -> None:
    rows.write("job")
    stream = Watcher(rows, hub).follow("job", 0)  # pyright: ignore[reportArgumentType]
    assert (await anext(stream)).seq == 1
    for _ in range(MAX_PENDING_EVENTS + 10):
        hub.announce([rows.write("job")])
    hub.announce([rows.write("job", last=True)])
    rest = [event.seq async for event in stream]
    assert rest == list(range(2, MAX_PENDING_EVENTS + 13))


async def test_a_thousand_idle_streams_cost_one_question_a_pass(rows: Rows, hub: EventHub) -> None:
    watcher, poller = Watcher(rows, hub), UnannouncedEvents(rows, hub)  # pyright: ignore[reportArgumentType]
    for number in range(1000):
        rows.write(f"job-{number}")
    following = [asyncio.create_task(collected(watcher, f"job-{number}")) for number in range(1000)]
    await all_follow(hub, 1000)
    await asyncio.sleep(0)
    rows.reads = 0
    for _ in range(5):
        await poller.run_once()
        await asyncio.sleep(0)
    assert (rows.polls, rows.reads) == (5, 0)
    for number in range(1000):
        hub.announce([rows.write(f"job-{number}", last=True)])
    assert await asyncio.gather(*following) == [[1, 2]] * 1000
    assert rows.reads == 0, "what is announced is not read"


async def test_nobody_to_wake_means_no_question(rows: Rows, hub: EventHub) -> None:
    await UnannouncedEvents(rows, hub).run_once()  # pyright: ignore[reportArgumentType]
    assert rows.polls == 0


async def test_streams_end_when_the_scheduler_stops(rows: Rows, hub: EventHub) -> None:
    rows.write("job")
    watcher = Watcher(rows, hub)  # pyright: ignore[reportArgumentType]
    early = asyncio.create_task(collected(watcher, "job"))
    await all_follow(hub, 1)
    hub.close()
    for following in (early, collected(watcher, "job")):
        with pytest.raises(StoppingError):
            await following


class Changes:
    """Jobs of several accounts in memory; counts what the poller asks."""

    def __init__(self) -> None:
        self.last = 0
        self.of_account: dict[str, dict[int, int]] = {}
        self.polls = 0
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        """Happens while a pass of the poller reads."""

    def change(self, account_id: str, number: int) -> None:
        self.last += 1
        self.of_account.setdefault(account_id, {})[number] = self.last

    async def revision(self) -> int:
        return self.last

    async def changed_jobs(self, account_id: str, revision: int, limit: int) -> list[tuple[int, Job]]:
        jobs = self.of_account.get(account_id, {})
        return sorted((at, a_job(number)) for number, at in jobs.items() if at > revision)[:limit]

    async def last_revisions(self, account_ids: Sequence[str], revision: int) -> dict[str, int]:
        self.polls += 1
        last = {account_id: max(self.of_account.get(account_id, {0: 0}).values()) for account_id in account_ids}
        if self.meanwhile:
            await self.meanwhile()
        return {account_id: at for account_id, at in last.items() if at > revision}


@given(st.data())
async def test_last_change_of_each_job_comes_in_order_however_the_connection_is_cut(data: st.DataObject) -> None:
    rows, hub = Changes(), EventHub()
    changes = JobChanges(rows, hub)  # pyright: ignore[reportArgumentType]
    poller = UnreadChanges(rows, hub)  # pyright: ignore[reportArgumentType]
    seen: list[tuple[int, str]] = []

    async def follow() -> None:
        async for revision, job in changes.follow("mine", seen[-1][0] if seen else 0):
            assert job is not None
            seen.append((revision, job.job_id))

    following = asyncio.create_task(follow())
    for step in data.draw(st.lists(st.sampled_from(["mine", "other", "poll", "cut", "turn"]), max_size=40)):
        if step in {"mine", "other"}:
            rows.change(step, data.draw(st.integers(0, 3)))
        elif step == "poll":
            await poller.run_once()
        elif step == "cut":
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            following = asyncio.create_task(follow())
        await asyncio.sleep(0)
    mine = rows.of_account.get("mine", {})
    async with asyncio.timeout(60):
        while {job_id: revision for revision, job_id in seen} != {a_job(one).job_id: at for one, at in mine.items()}:
            assert not following.done()
            await poller.run_once()
            await asyncio.sleep(0)
    following.cancel()
    assert [revision for revision, _ in seen] == sorted({revision for revision, _ in seen})


async def test_follower_from_now_on_first_gets_the_place_to_go_on_from() -> None:
    rows, hub = Changes(), EventHub()
    rows.change("mine", 1)
    stream = JobChanges(rows, hub).follow("mine", None)  # pyright: ignore[reportArgumentType]
    assert await anext(stream) == (1, None)
    rows.change("mine", 2)
    revision, job = await anext(stream)
    assert (revision, job and job.job_id) == (2, a_job(2).job_id)
    hub.close()
    with pytest.raises(StoppingError):
        await anext(stream)


async def test_change_during_a_pass_wakes_a_follower_who_began_during_it() -> None:
    rows, hub = Changes(), EventHub()
    changes, poller = JobChanges(rows, hub), UnreadChanges(rows, hub)  # pyright: ignore[reportArgumentType]
    early, late = changes.follow("other", None), changes.follow("mine", None)
    await anext(early)

    async def meanwhile() -> None:
        rows.meanwhile = None
        await anext(late)
        following.append(asyncio.ensure_future(anext(late)))
        await asyncio.sleep(0)
        rows.change("mine", 1)

    following: list[asyncio.Future[tuple[int, Job | None]]] = []
    rows.meanwhile = meanwhile
    await poller.run_once()
    await poller.run_once()
    async with asyncio.timeout(60):
        assert (await following[0])[0] == 1


@pytest.mark.parametrize("after", [-1, 2])
async def test_revision_that_has_not_been_is_refused(after: int) -> None:
    rows = Changes()
    rows.change("mine", 1)
    changes = JobChanges(rows, EventHub())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidFieldError, match="give 0 to 1"):
        await anext(changes.follow("mine", after))


async def test_a_pass_asks_once_for_all_followed_accounts_and_not_at_all_for_none() -> None:
    rows, hub = Changes(), EventHub()
    poller = UnreadChanges(rows, hub)  # pyright: ignore[reportArgumentType]
    await poller.run_once()
    assert rows.polls == 0
    streams = [JobChanges(rows, hub).follow(f"acc-{one % 50}", None) for one in range(200)]  # pyright: ignore[reportArgumentType]
    for stream in streams:
        await anext(stream)
    await poller.run_once()
    assert rows.polls == 1
    for stream in streams:
        await stream.aclose()
