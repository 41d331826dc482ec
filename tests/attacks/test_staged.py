"""Attacks that need more than one submission, or some part of the machine that they attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from services.executor.core.model.events import Event, Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run import benchmarking
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.timing.stopping import CPU_PROFILE
from submissions.modes import Mode
from tests.attacks.conftest import PROBLEMS, Attack
from tests.attacks.manifest import Attempt, attempt_named
from tests.attacks.staged import STAGED
from vocabulary import roofline

HONEST = (PROBLEMS / "vector-addition/solution.hip").read_text("utf-8")


async def _benchmark(judged: RunContext, source: str, seed: str = "") -> Finished:
    return await run(CoreJob(source, Mode.BENCHMARK, "vector-addition", seed=seed), judged, lambda _: None)


@pytest.mark.parametrize("name", sorted(STAGED))
async def test_a_staged_attack_finds_and_reaches_nothing(attack: Attack, name: str) -> None:
    async def submit(attempt: Attempt, seed: str, replacements: Mapping[str, str]) -> Finished:
        return await attack(attempt, seed, **replacements)

    assert await STAGED[name](submit) == ""


@pytest.mark.parametrize("name", ["10_daemon/daemon", "10_daemon/fork_bomb", "33_hang/stopped"])
async def test_the_machine_serves_the_next_submission_as_if_nothing_had_been(
    attack: Attack, judged: RunContext, name: str
) -> None:
    attempt = attempt_named(name)
    assert (await attack(attempt)).verdict is attempt.verdict
    after = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), judged, lambda _: None)
    assert after.verdict is Verdict.ACCEPTED, after


async def test_sleeping_through_the_warm_up_leaves_no_fewer_samples(judged: RunContext) -> None:
    profile = replace(CPU_PROFILE, min_samples=100, fewest_samples=12, max_samples=12, max_wall_seconds=0.01)
    counted = replace(judged, profile=profile)
    sleepy = await _benchmark(counted, attempt_named("25_slow_warm_up/sleeps_at_first").source())
    awake = await _benchmark(counted, HONEST)
    assert sleepy.benchmarked is not None
    assert awake.benchmarked is not None
    counts = [result.samples for run in (sleepy, awake) for result in run.benchmarked.results]
    assert [count % 12 for count in counts] == [0] * len(counts), "whole sessions of the planned size"


async def test_a_time_below_the_physical_floor_is_no_time(judged: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_memory = roofline.Roofs(1e6, {"float32": 1e9}, write_cache_bytes=0.0, launch_seconds=1e-9)
    monkeypatch.setattr(benchmarking, "roofs_of", lambda *_: slow_memory)
    for source in (HONEST, attempt_named("26_hot_data/keeps_touching").source()):
        finished = await _benchmark(judged, source)
        assert finished.verdict is Verdict.TIMING_INVALID, finished
        assert "but moving" in finished.message


async def test_two_runs_of_one_submission_share_no_input(judged: RunContext) -> None:
    reported: list[list[Event]] = [[], []]
    for events in reported:
        await run(CoreJob(HONEST, Mode.SAMPLE, "vector-addition"), judged, events.append)
    first, second = (events[-1].sample.input_json for events in reported)
    assert first != second


@pytest.mark.parametrize(
    "name",
    [
        "05_deferred_work/late_thread",
        "05_deferred_work/late_half",
        "05_deferred_work/late_worker",
        "18_lazy_work/timer",
        "18_lazy_work/pages_when_read",
    ],
)
async def test_work_that_outlives_its_call_is_never_taken_for_an_answer(attack: Attack, name: str) -> None:
    attempt = attempt_named(name)
    verdicts = [(await attack(attempt)).verdict for _ in range(10)]
    assert verdicts == [Verdict.WRONG_ANSWER] * 10
