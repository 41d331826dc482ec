"""Jobs that take a range of GPUs get what is free, and what their queue may have."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation
from vocabulary.slots import EIGHTHS_PER_GPU, LEGAL_GPUS, LEGAL_SIZES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POLICIES = list(FairnessPolicy)


def tree(policy: FairnessPolicy, **shares: Share) -> Queues:
    """A queue `lab`, and below it one of each name."""
    below = [QueueSettings(name, parent="lab", resources={"gpu": share}) for name, share in shares.items()]
    return Queues([QueueSettings("lab", policy=policy), *below])


def asks(name: str, least: int, most: int = 0, queue: str = "red") -> Candidate:
    """Of so many GPUs."""
    return Candidate(name, queue, NOW, least * EIGHTHS_PER_GPU, most_eighths=most * EIGHTHS_PER_GPU)


def situation(queues: Queues, machines: list[int], *jobs: Candidate, running: list[Running] | None = None) -> Situation:
    further: dict[str, int] = {}
    for job in jobs:
        further[job.queue] = further.get(job.queue, 0) + max(0, job.most_eighths - job.eighths)
    listed = [Machine(f"m{number}", gpus) for number, gpus in enumerate(machines)]
    return Situation("MI300X", queues, NOW, listed, running or [], jobs, further_eighths=further)


def got(asked: Situation) -> dict[str, int]:
    """The GPUs that each job starts with."""
    decided = plan(asked)
    eighths = {job.job_id: job.eighths for job in asked.waiting}
    return {job: decided.sizes.get(job, eighths[job]) // EIGHTHS_PER_GPU for job in decided.starts}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("gpus", "expected"), [(1, 1), (2, 2), (3, 2), (4, 4), (8, 4)])
def test_a_range_gets_as_many_as_are_free_and_no_more_than_it_asks_for(
    policy: FairnessPolicy, gpus: int, expected: int
) -> None:
    queues = tree(policy, red=Share(8000))
    assert got(situation(queues, [gpus], asks("one", 1, 4))) == {"one": expected}


@pytest.mark.parametrize("policy", POLICIES)
def test_all_that_can_start_start_before_any_gets_more_and_more_is_shared_evenly(policy: FairnessPolicy) -> None:
    queues = tree(policy, red=Share(8000))
    jobs = [asks("one", 1, 4), asks("two", 1, 4), asks("three", 2)]
    assert got(situation(queues, [4], *jobs)) == {"one": 1, "two": 1, "three": 2}
    assert got(situation(queues, [8], *jobs)) == {"one": 4, "two": 2, "three": 2}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_range_stays_within_the_limit_of_its_queue(policy: FairnessPolicy) -> None:
    queues = tree(policy, red=Share(8000, limit=8000))
    held = [Running("held", "red", "m0", NOW, 5 * EIGHTHS_PER_GPU)]
    assert got(situation(queues, [16], asks("one", 1, 8), running=held)) == {"one": 2}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_range_takes_no_more_than_its_queues_part_while_others_have_theirs(policy: FairnessPolicy) -> None:
    """Two queues may have half of 8 GPUs each; blue has two, and asks for the others."""
    queues = tree(policy, red=Share(4000), blue=Share(4000))
    held = [Running("held", "blue", "m0", NOW, 2 * EIGHTHS_PER_GPU, end_time=NOW + timedelta(hours=1))]
    jobs = [asks("one", 1, 8), asks("large", 2, queue="blue")]
    assert got(situation(queues, [8], *jobs, running=held)) == {"one": 4, "large": 2}


def test_with_kai_a_queue_that_is_alone_gets_all_and_with_kueue_no_more_than_its_quota() -> None:
    for policy, expected in ((FairnessPolicy.KAI, 8), (FairnessPolicy.KUEUE, 2)):
        queues = tree(policy, red=Share(2000), blue=Share(6000))
        assert got(situation(queues, [8], asks("one", 1, 8))) == {"one": expected}


def test_what_is_kept_for_a_large_job_is_not_given_to_a_range() -> None:
    """Four GPUs, two of them in use; the job ahead wants all four, and the range fits beside on another machine."""
    queues = tree(FairnessPolicy.KAI, red=Share(8000))
    held = [Running("held", "red", "m0", NOW - timedelta(hours=1), 16, end_time=NOW + timedelta(minutes=1))]
    large = asks("large", 4)
    decided = plan(situation(queues, [4, 1], large, asks("one", 1, 4), running=held))
    assert decided.holds["large"].machine_id == "m0"
    assert decided.starts == {"one": "m1"}
    assert decided.sizes == {}


jobs_of = st.lists(
    st.tuples(st.sampled_from(LEGAL_GPUS), st.integers(0, 3), st.sampled_from(["red", "blue", "default"])), max_size=7
)


@given(
    st.sampled_from(POLICIES),
    st.lists(st.integers(1, 8), min_size=1, max_size=3),
    jobs_of,
    st.integers(0, 8),
    st.one_of(st.none(), st.integers(1, 8)),
)
def test_no_machine_gives_more_than_it_has_and_no_queue_has_more_than_its_limit(
    policy: FairnessPolicy, machines: list[int], jobs: list[tuple[int, int, str]], quota: int, limit: int | None
) -> None:
    most = None if limit is None else 1000 * limit
    share = Share(1000 * (quota if limit is None else min(quota, limit)), limit=most)
    candidates = [
        asks(f"job-{number}", least, least << doublings if doublings else 0, queue)
        for number, (least, doublings, queue) in enumerate(jobs)
    ]
    asked = situation(tree(policy, red=share, blue=Share(1000)), machines, *candidates)

    decided, sizes = plan(asked), got(asked)

    fixed = plan(replace(asked, waiting=[replace(one, most_eighths=0) for one in candidates]))
    assert decided.starts == fixed.starts, "growth keeps nobody from starting"
    used: dict[Any, int] = {}
    for job in candidates:
        if job.job_id not in sizes:
            continue
        size = sizes[job.job_id]
        assert size * EIGHTHS_PER_GPU in LEGAL_SIZES
        assert job.eighths <= size * EIGHTHS_PER_GPU <= max(job.eighths, job.most_eighths)
        used[decided.starts[job.job_id]] = used.get(decided.starts[job.job_id], 0) + size
        used[job.queue] = used.get(job.queue, 0) + size
    assert all(used.get(f"m{number}", 0) <= gpus for number, gpus in enumerate(machines))
    assert limit is None or used.get("red", 0) <= limit
