from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool

WIDE = {"COLUMNS": "200"}
JOBS, QUEUES = "/api/v1/metrics/jobs", "/api/v1/metrics/queues"
ADA: dict[str, Any] = {
    "group": "user_1",
    "name": "ada",
    "jobs": 4,
    "succeeded": 3,
    "accepted": 2,
    "failed": 1,
    "cancelled": 0,
    "lost_attempts": 5,
    "wait": {"p50_seconds": 1.25, "p90_seconds": 90.0},
    "run": None,
    "useful_gpu_seconds": 1500.0,
    "paid_gpu_seconds": 2000.0,
    "efficiency": 0.75,
    "gflops": None,
}
FOUND: dict[str, Any] = {"group_by": "user", "since": None, "until": None, "kept_since": None, "groups": [ADA]}
QUEUE: dict[str, Any] = {
    "queue": "default",
    "gpu_type": "MI300X",
    "waiting_jobs": 12,
    "running_jobs": 3,
    "oldest_wait_seconds": 61.5,
    "p90_wait_seconds": 30.0,
    "stuck_jobs": 2,
    "ended_jobs": 40,
    "failed_jobs": 1,
    "lost_attempts": 6,
}


def test_the_figures_of_a_group_are_one_line(gateway: ScriptedGateway) -> None:
    gateway.on("GET", JOBS, Answer(FOUND))
    out = wavepool("metrics", "--by", "user", "--endpoint", gateway.endpoint, environment=WIDE).out
    assert out.split("\n")[1].split() == [
        *("ada", "4", "3", "2", "1", "5", "1.2", "s", "90.0", "s", "-", "-"),
        *("1,500.0", "2,000.0", "75%", "-"),
    ]
    assert wavepool("metrics", "--json", "--endpoint", gateway.endpoint).json == FOUND


@pytest.mark.parametrize(("text", "ago"), [("90m", timedelta(minutes=90)), ("7d", timedelta(days=7))])
def test_a_period_can_be_so_long_until_now(gateway: ScriptedGateway, text: str, ago: timedelta) -> None:
    gateway.on("GET", JOBS, Answer(FOUND))
    wavepool("metrics", "--since", text, "--until", "2026-12-01", "--endpoint", gateway.endpoint)
    asked = {name: one for name, [one] in parse_qs(urlsplit(gateway.requests[-1].path).query).items()}
    assert (asked["group_by"], asked["until"]) == ("all", "2026-12-01")
    assert abs(datetime.now(UTC) - ago - datetime.fromisoformat(asked["since"])) < timedelta(minutes=1)


def test_a_time_without_jobs_and_an_idle_queue_are_said_in_words(gateway: ScriptedGateway) -> None:
    gateway.on("GET", JOBS, Answer({**FOUND, "groups": []}))
    gateway.on("GET", QUEUES, Answer({"queues": [], "window_seconds": 900}))
    assert "no job ended in this time" in wavepool("metrics", "--endpoint", gateway.endpoint).err
    assert "nothing waits" in wavepool("metrics", "queues", "--endpoint", gateway.endpoint).err


def test_a_queue_is_one_line(gateway: ScriptedGateway) -> None:
    gateway.on("GET", QUEUES, Answer({"queues": [QUEUE], "window_seconds": 900}))
    out = wavepool("metrics", "queues", "--endpoint", gateway.endpoint, environment=WIDE).out
    assert "ended in 15 min" in out
    assert out.split("\n")[1].split() == ["default", "MI300X", "12", "3", "2", "61.5", "s", "30.0", "s", "40", "1", "6"]


def test_an_unknown_grouping_is_refused_with_the_known_ones(gateway: ScriptedGateway) -> None:
    said = wavepool("metrics", "--by", "colour", "--endpoint", gateway.endpoint)
    assert said.status != 0
    assert "gpu_type" in said.err
