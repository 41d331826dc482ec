"""Scheduler, vmpool and gateway are killed at random under load: jobs end once, and their watchers miss nothing."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.end_to_end.wavepool_processes import ROOT, Frame, Wavepool, kernel, reference, start, until
from tests.postgres_server import PostgresServer

KILLED = ("scheduler", "vmpool", "gateway")
KILLS = [6, pytest.param(200, marks=pytest.mark.soak)]
CLIENTS = 3
MOST_FRAMES = 20
"""That clients see between two kills."""
TIMEOUT_SECONDS = 120.0
SERVICES = ("SCHEDULER", "VMPOOL", "BILLING")


@dataclass
class Replica:
    """A second scheduler on the same database; it is started again whenever it is killed."""

    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "services.scheduler"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


@dataclass
class Load:
    """Clients that submit one job after another and follow each to its end, whatever happens in between."""

    wavepool: Wavepool
    over: threading.Event = field(default_factory=threading.Event)
    stories: dict[str, list[Frame]] = field(default_factory=dict[str, list[Frame]])
    faults: list[str] = field(default_factory=list[str])
    frames: int = 0

    def run(self, client: int) -> None:
        try:
            number = 0
            while not self.over.is_set():
                number += 1
                source = reference("leaky-relu") if number % 3 else kernel("slow_leaky_relu")
                job_id = self._submit(source, f"client-{client}-{number}")
                self.stories[job_id] = self._follow(job_id)
        except Exception as error:
            self.faults.append(f"{type(error).__name__}: {error}")
            raise

    def _submit(self, source: str, key: str) -> str:
        body = {"problem": "leaky-relu", "code": source, "mode": "check"}
        answer = self._until_answered("POST", "/api/v1/submissions", 202, json=body, headers={"Idempotency-Key": key})
        return str(answer["id"])

    def _follow(self, job_id: str) -> list[Frame]:
        seen: list[Frame] = []

        def followed() -> bool:
            """Whether the stream gave its last frame; a connection that breaks before it is resumed."""
            with (
                suppress(httpx.TransportError, AssertionError),
                self.wavepool.following(job_id, seen[-1].id if seen else None) as stream,
            ):
                for frame in stream:
                    seen.append(frame)
                    self.frames += 1
            return bool(seen and seen[-1].data.get("final"))

        until(followed, f"the last frame of {job_id}", TIMEOUT_SECONDS)
        return seen

    def _until_answered(self, method: str, path: str, status: int, **fields: Any) -> dict[str, Any]:
        def answer() -> httpx.Response | None:
            with suppress(httpx.TransportError):
                got = self.wavepool.http.request(method, path, **fields)
                if got.status_code == status:
                    return got
                assert got.status_code >= 429, got.text
            return None

        return until(answer, f"an answer to {method} {path}", TIMEOUT_SECONDS).json()


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Settings that name the databases; none for SQLite files in the data folder."""
    with ExitStack() as made:
        settings: dict[str, str] = {}
        if request.param == "postgresql":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            for name in SERVICES:
                url = settings[f"{name}_DATABASE_URL"] = server.create_database("")
                made.callback(server.drop_database, url)
        yield settings


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", KILLS)
@pytest.mark.parametrize(
    ("databases", "replicas"),
    [
        pytest.param("sqlite", 1, marks=pytest.mark.soak),
        pytest.param("postgresql", 1, marks=[pytest.mark.postgres, pytest.mark.soak]),
        pytest.param("postgresql", 2, marks=pytest.mark.postgres),
    ],
    indirect=["databases"],
)
def test_every_job_ends_once_and_its_watcher_misses_nothing(
    tmp_path: Path, databases: dict[str, str], replicas: int, kills: int
) -> None:
    wavepool = start(tmp_path, **databases, SCHEDULER_MAX_SUBMISSIONS_PER_HOUR="0")
    chance = random.Random(kills)  # noqa: S311 - the same order each time
    replica = _second_scheduler(wavepool) if replicas > 1 else None
    load = Load(wavepool)
    clients = [threading.Thread(target=load.run, args=(number,)) for number in range(CLIENTS)]
    try:
        for client in clients:
            client.start()
        for _ in range(kills):
            due = load.frames + chance.randint(1, MOST_FRAMES)
            until(lambda due=due: load.frames >= due or load.faults, "some frames", TIMEOUT_SECONDS)
            victim = chance.choice([*KILLED, "replica"] if replica else KILLED)
            if victim == "replica" and replica:
                replica.kill()
                replica.start()
            else:
                wavepool.kill(victim)
        load.over.set()
        for client in clients:
            client.join(TIMEOUT_SECONDS * 2)
        assert not any(client.is_alive() for client in clients)
        assert not load.faults
        _check(wavepool, load.stories)
    finally:
        load.over.set()
        if replica:
            replica.kill()
        wavepool.stop()


def _second_scheduler(wavepool: Wavepool) -> Replica:
    first = until(lambda: wavepool.process_of("scheduler"), "the scheduler")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    replica = Replica({**os.environ, **first.environ(), "SCHEDULER_PORT": port, "SCHEDULER_METRICS_PORT": "0"})
    replica.start()
    return replica


def _check(wavepool: Wavepool, stories: dict[str, list[Frame]]) -> None:
    assert len(stories) >= CLIENTS
    for job_id, story in stories.items():
        ids = [int(frame.id) for frame in story]
        # Some steps have no frame, so what is stored says which ones there are.
        stored = [int(frame.id) for frame in wavepool.story(job_id)]
        assert ids == sorted(set(ids)) == stored, f"{job_id}: each event once and in order"
        last = [frame.event for frame in story if frame.data.get("final")]
        assert last == [story[-1].event], f"{job_id} ends once: {last}"
        assert wavepool.job(job_id)["state"] == "FINISHED", job_id
    charges = Counter(
        posting["description"].split(",")[0]
        for posting in wavepool.http.get("/api/v1/costs", params={"page_size": 500}).json()["postings"]
        if posting["kind"] == "CHARGE"
    )
    assert not [description for description, number in charges.items() if number > 1], charges
