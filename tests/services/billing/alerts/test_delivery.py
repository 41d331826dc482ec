"""Messages: order, retries, restarts and giving up, on real databases."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.alert_rules.rule import Reading
from services.billing.alerts.delivery import CLAIM
from services.billing.service.billing_service import Stores
from services.billing.store.delivery_store import Outcome, give_up_others
from tests.services.billing.alerts.conftest import QUEUE, Bench

VALID = timedelta(days=1)


@pytest.fixture
def bench(db: Database, stores: Stores, clock: ManualClock) -> Bench:
    return Bench(db, stores, clock, [QUEUE])


async def report(bench: Bench, **jobs: int) -> None:
    now = bench.clock.now()
    readings = [Reading("queue.jobs", value, now, {"queue": name}) for name, value in jobs.items()]
    await bench.evaluator.take_all("scheduler", readings, VALID, now)


async def fate(bench: Bench) -> list[tuple[Outcome, int, str]]:
    """Of each message, oldest first."""
    lines = await bench.store.history(None, before_seq=None, limit=100)
    return [(sent.outcome, sent.attempts, sent.failure) for line in reversed(lines) for sent in line.deliveries]


async def test_a_message_that_fails_is_sent_again_after_a_pause_that_grows(bench: Bench) -> None:
    await report(bench, fast=11)
    bench.recorder.refuse(3)
    await bench.delivery.run_once()
    assert await fate(bench) == [(Outcome.WAITING, 1, "it answered HTTP 503")]
    for pause, tries in ((4, 1), (1, 2), (9, 2), (1, 3), (19, 3), (1, 4)):
        bench.clock.advance(timedelta(seconds=pause))
        await bench.delivery.run_once()
        assert len(bench.recorder.tried) == tries
    assert len(set(bench.recorder.tried)) == 1
    assert await fate(bench) == [(Outcome.DELIVERED, 4, "")]


async def test_a_message_is_given_up_after_the_time_of_the_settings(
    db: Database, stores: Stores, clock: ManualClock
) -> None:
    bench = Bench(db, stores, clock, [QUEUE], retry=timedelta(minutes=1))
    await report(bench, fast=11)
    bench.recorder.refuse(100)
    for _ in range(30):
        await bench.delivery.run_once()
        clock.advance(timedelta(seconds=10))
    (message,) = await fate(bench)
    assert message[0] is Outcome.FAILED
    assert 3 <= message[1] == len(bench.recorder.tried) <= 6


async def test_the_messages_of_one_alert_keep_their_order(bench: Bench) -> None:
    await report(bench, fast=11)
    bench.recorder.refuse(1)
    await bench.delivery.run_once()
    await report(bench, fast=1, slow=12)
    await bench.delivery.run_once()
    assert [notice.labels["queue"] for notice in bench.recorder.notices] == ["slow"]
    bench.clock.advance(timedelta(seconds=5))
    await bench.delivery.run_once()
    assert [(n.event, n.labels["queue"]) for n in bench.recorder.notices[1:]] == [
        ("fired", "fast"),
        ("resolved", "fast"),
    ]


async def test_a_message_of_a_process_that_was_killed_while_it_sent_is_sent_again_under_its_id(
    bench: Bench, db: Database, stores: Stores, clock: ManualClock
) -> None:
    await report(bench, fast=11)
    claimed = await bench.sent.next_due(clock.now(), clock.now() + CLAIM)
    assert claimed is not None
    restarted = Bench(db, stores, clock, [QUEUE])
    await restarted.delivery.run_once()
    assert restarted.recorder.tried == []
    clock.advance(CLAIM)
    await restarted.delivery.run_once()
    assert restarted.recorder.tried == [claimed.transition_id]


async def test_processes_that_deliver_at_once_send_each_message_once(
    bench: Bench, db: Database, stores: Stores, clock: ManualClock
) -> None:
    benches = [bench, *(Bench(db, stores, clock, [QUEUE]) for _ in range(3))]
    await report(bench, **{f"queue{number}": 11 for number in range(20)})
    await asyncio.gather(*(one.delivery.run_once() for one in benches))
    # A process that lost the race for a message stops; the next pass finds what is left.
    for one in benches:
        await one.delivery.run_once()
    tried = [notice_id for one in benches for notice_id in one.recorder.tried]
    assert len(tried) == len(set(tried)) == 20


async def test_a_plug_in_that_breaks_is_tried_again_and_its_words_are_told_to_nobody(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    await report(bench, fast=11)
    bench.recorder.faults = [RuntimeError("https://hooks.example/hush")]
    await bench.delivery.run_once()
    assert await fate(bench) == [(Outcome.WAITING, 1, "it failed in an unexpected way (RuntimeError)")]
    assert "hush" not in caplog.text


async def test_what_waits_for_a_channel_that_is_gone_is_given_up(bench: Bench) -> None:
    await report(bench, fast=11)
    assert await give_up_others(bench.db, ["ops"], bench.clock.now()) == 0
    assert await give_up_others(bench.db, ["other"], bench.clock.now()) == 1
    assert await fate(bench) == [(Outcome.FAILED, 0, "the settings have no such channel any more")]
