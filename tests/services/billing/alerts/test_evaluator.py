"""Readings of other sources, silence, and rules that go away, on real databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.alert_rules.rule import Reading, Severity
from services.billing.alerts.alert_watch import firing
from services.billing.alerts.channels.plugins import NamedChannel
from services.billing.service.billing_service import Stores
from tests.services.billing.alerts.conftest import QUEUE, Bench

VALID = timedelta(minutes=3)


@pytest.fixture
def bench(db: Database, stores: Stores, clock: ManualClock) -> Bench:
    return Bench(db, stores, clock, [QUEUE])


async def report(bench: Bench, **jobs: int) -> None:
    """One report of the scheduler about its queues, and a pass of the loops."""
    now = bench.clock.now()
    readings = [Reading("queue.jobs", value, now, {"queue": name}) for name, value in jobs.items()]
    await bench.evaluator.take_all("scheduler", readings, VALID, now)
    await bench.watch.run_once()
    await bench.delivery.run_once()


async def test_each_set_of_labels_is_an_alert_of_its_own(bench: Bench) -> None:
    await report(bench, fast=11, slow=12, calm=1)
    assert {alert.labels["queue"] for alert in await bench.store.active()} == {"fast", "slow"}
    await report(bench, fast=11, slow=5, calm=1)
    assert [alert.labels["queue"] for alert in await bench.store.active()] == ["fast"]
    assert bench.told == ["fired queue-long"] * 2 + ["resolved queue-long"]


async def test_an_alert_about_something_that_a_report_leaves_out_ends(bench: Bench) -> None:
    await report(bench, fast=11, slow=12)
    bench.clock.advance(timedelta(seconds=10))
    await report(bench, fast=11)
    assert [alert.labels["queue"] for alert in await bench.store.active()] == ["fast"]


async def test_a_source_leaves_the_alerts_of_others_alone(bench: Bench) -> None:
    await report(bench, fast=11)
    await bench.evaluator.take_all("vmpool", [], VALID, bench.clock.now())
    assert len(await bench.store.active()) == 1


async def test_a_silent_source_is_announced_and_its_alert_stays(bench: Bench) -> None:
    await report(bench, fast=11)
    await bench.look(VALID)
    assert bench.told == ["fired queue-long"]
    await bench.look(timedelta(seconds=1))
    (alert,) = await bench.store.active()
    assert (alert.state.no_data, bench.told[1:]) == (True, ["no_data queue-long"])
    await bench.look(timedelta(days=1))
    assert len(bench.told) == 2
    await report(bench, fast=11)
    (alert,) = await bench.store.active()
    assert not alert.state.no_data
    assert await bench.events() == ["fired queue-long", "no_data queue-long", "data_back queue-long"]


async def test_the_time_for_which_billing_was_down_is_no_silence_of_the_source(
    bench: Bench, db: Database, stores: Stores, clock: ManualClock
) -> None:
    await report(bench, fast=11)
    clock.advance(timedelta(hours=5))
    restarted = Bench(db, stores, clock, [QUEUE])
    await restarted.look(VALID)
    assert restarted.told == []
    await restarted.look(timedelta(seconds=1))
    assert restarted.told == ["no_data queue-long"]


async def test_an_alert_whose_rule_is_gone_ends(bench: Bench, db: Database, stores: Stores, clock: ManualClock) -> None:
    await report(bench, fast=11)
    restarted = Bench(db, stores, clock, [])
    await restarted.look()
    assert restarted.told == ["resolved queue-long"]
    assert await restarted.store.active() == []


async def test_a_firing_alert_shows_a_recent_value(bench: Bench) -> None:
    await report(bench, fast=11)
    bench.clock.advance(timedelta(seconds=20))
    await report(bench, fast=33)
    (alert,) = await bench.store.active()
    assert (alert.state.value, alert.summary) == (33, "33 jobs wait")


async def test_a_late_report_changes_nothing(bench: Bench) -> None:
    early = bench.clock.now()
    bench.clock.advance(timedelta(seconds=20))
    await report(bench, fast=11)
    await bench.evaluator.take_some("scheduler", [Reading("queue.jobs", 1, early, {"queue": "fast"})], VALID)
    assert await bench.events() == ["fired queue-long"]


async def test_a_channel_for_severe_alerts_is_not_told_of_others(
    db: Database, stores: Stores, clock: ManualClock
) -> None:
    severe = replace(QUEUE, name="queue-very-long", severity=Severity.CRITICAL)
    bench = Bench(db, stores, clock, [QUEUE, severe])
    bench.evaluator._channels = {"ops": NamedChannel("ops", "recorder", Severity.CRITICAL, bench.recorder)}
    await report(bench, fast=11)
    assert bench.told == ["fired queue-very-long"]
    assert len(await bench.events()) == 2


async def test_the_metric_counts_what_fires_and_is_zero_for_rules_that_do_not(bench: Bench) -> None:
    def shown() -> float:
        return firing.labels("WARNING", "queue-long")._value.get()

    await bench.look()
    assert ("WARNING", "queue-long") in firing._metrics
    assert shown() == 0
    await report(bench, fast=11, slow=12)
    assert shown() == 2


async def test_the_history_forgets_what_is_old_and_keeps_what_is_active(bench: Bench) -> None:
    await report(bench, fast=11, slow=12)
    await report(bench, fast=11)
    await bench.look(timedelta(days=91))
    assert await bench.events() == ["no_data queue-long"]
    assert [alert.labels["queue"] for alert in await bench.store.active()] == ["fast"]
    assert len(await bench.store.of_source("scheduler")) == 1
