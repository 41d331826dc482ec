"""What queues used lately: the part of the GPUs that they had, decayed, and kept over a restart."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import Queues, QueueSettings
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.store.queue_store import QueueStore
from tests.services.scheduler.jobs import START

DAY = timedelta(days=1)
QUEUES = Queues([QueueSettings("lab"), QueueSettings("red", parent="lab"), QueueSettings("blue", parent="lab")])


def situation(clock: ManualClock, red: int = 0, blue: int = 0, gpus: int = 4) -> Situation:
    names = ["red"] * red + ["blue"] * blue
    held = [Running(f"{name}{number}", name, "m", START) for number, name in enumerate(names)]
    return Situation("MI300X", QUEUES, clock.now(), [Machine("m", gpus)], held, [])


async def test_the_part_of_the_gpus_that_a_queue_had_counts_for_it_and_those_above(database: Database) -> None:
    clock = ManualClock(START)
    book = UsageBook(QueueStore(database), DAY, clock)

    book.note(situation(clock, red=3, blue=1))
    clock.advance(timedelta(hours=1))
    used = book.used_ppm(situation(clock))

    assert used == {"default": 0, "lab": 1_000_000, "red": 750_000, "blue": 250_000}


async def test_half_of_it_is_forgotten_after_the_half_life(database: Database) -> None:
    clock = ManualClock(START)
    book = UsageBook(QueueStore(database), timedelta(hours=1), clock)

    book.note(situation(clock, red=4))
    clock.advance(timedelta(hours=1))
    book.note(situation(clock))
    clock.advance(timedelta(hours=1))

    # An hour of all GPUs, of which half is left, in two hours, of which the first counts half.
    assert round(book.used_ppm(situation(clock))["red"] / 1_000_000, 2) == 0.33


async def test_it_is_forgotten_as_fast_if_it_is_looked_at_each_second(database: Database) -> None:
    clock = ManualClock(START)
    book = UsageBook(QueueStore(database), timedelta(hours=1), clock)

    book.note(situation(clock, red=4))
    for number in range(7200):
        clock.advance(timedelta(seconds=1))
        book.note(situation(clock, red=4 if number < 3599 else 0))

    assert round(book.used_ppm(situation(clock))["red"] / 1_000_000, 2) == 0.33


async def test_whoever_only_asks_changes_nothing(database: Database) -> None:
    """A job's owner may ask at any time why it waits, of a situation that no pass decides on."""
    clock = ManualClock(START)
    asked, alone = (UsageBook(QueueStore(database), timedelta(hours=1), clock) for _ in range(2))
    for book in (asked, alone):
        book.note(situation(clock, red=4))

    for _ in range(4):
        clock.advance(timedelta(minutes=20))
        asked.used_ppm(situation(clock, blue=4))

    assert asked.used_ppm(situation(clock)) == alone.used_ppm(situation(clock))
    assert asked.used_ppm(situation(clock))["blue"] == 0


async def test_it_outlives_the_process(database: Database) -> None:
    clock, store = ManualClock(START), QueueStore(database)
    first, second = UsageBook(store, DAY, clock), UsageBook(store, DAY, clock)
    await first.run_once()
    first.note(situation(clock, red=2))
    clock.advance(timedelta(hours=1))
    first.note(situation(clock))

    await first.run_once()
    await second.run_once()

    assert second.used_ppm(situation(clock))["red"] == 500_000


async def test_nothing_counts_without_a_half_life(database: Database) -> None:
    clock = ManualClock(START)
    book = UsageBook(QueueStore(database), timedelta(0), clock)

    book.note(situation(clock, red=4))
    clock.advance(DAY)

    assert book.used_ppm(situation(clock)) == {}


def test_who_used_more_gets_less_of_what_is_left_over() -> None:
    clock = ManualClock(START)
    jobs = [Candidate(f"{name}-{n}", name, START) for name in ("red", "blue") for n in range(4)]
    now = situation(clock)

    def started(usage: dict[str, int]) -> list[str]:
        asked = Situation("MI300X", QUEUES, now.now, now.machines, [], jobs, usage_ppm=usage)
        return sorted(job.partition("-")[0] for job in plan(asked).starts)

    assert started({}) == ["blue", "blue", "red", "red"]
    assert started({"red": 600_000, "blue": 0}) == ["blue", "blue", "blue", "red"]
