"""Measures our scheduler: a process of its own as it is deployed, with simulated peers in this process.

Real are the scheduler's process, all gRPC calls, the rows of every job and event, and the disk (SQLite with
`synchronous=FULL`, PostgreSQL with its default durability). A job is five transactions: reserved, queued, running,
settling, over. The times of its end come from its row.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import uvloop
from sqlalchemy import text
from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission

from benchmarks.throughput.measured import Measured
from benchmarks.throughput.simulated_peers import GPU_TYPE, GPUS_OF_MACHINE, serve_peers
from servicekit.db.database import Database
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import service_token_of

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
RUN_SECONDS = 180
ACCOUNTS = 100
SUBMITTERS = 32
SOURCE = 'extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {}\n' * 10


class Load:
    """Submits jobs, so that at most `in_flight` of them have not settled."""

    def __init__(self, jobs: int, in_flight: int) -> None:
        self.jobs = jobs
        self.submitted: dict[str, float] = {}
        self._room = asyncio.Semaphore(in_flight)
        self._numbers = iter(range(jobs))
        self._settled: set[str] = set()
        self._all_settled = asyncio.Event()

    def settled(self, job_id: str) -> None:
        """Notes the settlement of a job."""
        if job_id not in self._settled:
            self._settled.add(job_id)
            self._room.release()
            if len(self._settled) == self.jobs:
                self._all_settled.set()

    async def run(self, scheduler: scheduler_pb2_grpc.SchedulerServiceAsyncStub) -> None:
        """Submits all jobs and waits until they have settled."""
        async with asyncio.timeout(RUN_SECONDS):
            await asyncio.gather(*(self._submit(scheduler) for _ in range(SUBMITTERS)))
            await self._all_settled.wait()

    async def _submit(self, scheduler: scheduler_pb2_grpc.SchedulerServiceAsyncStub) -> None:
        submission = Submission(problem="leaky-relu", source=SOURCE, mode=RUN_MODE_CHECK)
        spec = scheduler_pb2.JobSpec(submission=submission, gpu_type=GPU_TYPE)
        for number in self._numbers:
            await self._room.acquire()
            request = scheduler_pb2.SubmitJobRequest(
                account_id=f"account-{number % ACCOUNTS}", user_id="user", spec=spec, idempotency_key=f"key-{number}"
            )
            begin = time.time()
            answer = await scheduler.SubmitJob(request)
            self.submitted[answer.job.job_id] = begin


def measure(name: str, url: str, folder: Path, jobs: int, in_flight: int, machines: int) -> Measured:
    """Runs the load on an empty database."""
    return uvloop.run(_measure(name, url, folder, jobs, in_flight, machines))


async def _measure(name: str, url: str, folder: Path, jobs: int, in_flight: int, machines: int) -> Measured:
    load = Load(jobs, in_flight)
    token = service_token_of(folder)
    server, address = await serve_peers(machines, load.settled)
    settings = {
        "SCHEDULER_PORT": "0",
        "SCHEDULER_METRICS_PORT": "0",
        "SCHEDULER_DATA_DIR": str(folder),
        "SCHEDULER_DATABASE_URL": url,
        "SCHEDULER_VMPOOL_TARGET": address,
        "SCHEDULER_BILLING_TARGET": address,
        "SCHEDULER_MAX_JOBS_IN_FLIGHT": str(jobs),
        "WAVEPOOL_SERVICE_TOKEN_FILE": str(token.file),
    }
    log = folder / "scheduler.log"
    process = _started(settings, log)
    try:
        target = await asyncio.to_thread(_serving, process, log)
        channel = open_channel(target, ServiceCredentials("gateway", token))
        before = _cpu_seconds(process.pid)
        try:
            await load.run(scheduler_pb2_grpc.SchedulerServiceStub(channel))
        finally:
            await channel.close()
        ends = await _ends(url, jobs)
        spent = _cpu_seconds(process.pid) - before
    finally:
        process.terminate()
        process.wait()
        await server.stop(0)
    begins = load.submitted
    seconds = max(ends.values()) - min(begins.values())
    note = f"{spent / jobs * 1e3:.2f} ms of the scheduler's processor time a job; {machines * GPUS_OF_MACHINE} GPUs"
    return Measured(name, seconds, [ends[job_id] - begins[job_id] for job_id in begins], note)


def _started(settings: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as lines:
        return subprocess.Popen(
            [sys.executable, "-m", "services.scheduler"],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=lines,
            stderr=subprocess.STDOUT,
        )


def _serving(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address of the scheduler, from its log."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if found := re.search(r'"message":"serving".*"port":(\d+)', log.read_text()):
            return f"127.0.0.1:{found[1]}"
        time.sleep(0.05)
    raise SystemExit(f"the scheduler did not start: {log.read_text()[-2000:]}")


async def _ends(url: str, jobs: int) -> dict[str, float]:
    """The instant at which each job was over, from its row; waits for the last of them."""
    database = Database(url)
    try:
        async with asyncio.timeout(RUN_SECONDS):
            while True:
                async with database.reading() as connection:
                    query = text("SELECT job_id, end_time FROM jobs WHERE state = 'finished'")
                    ends = {row.job_id: row.end_time / 1e6 for row in await connection.execute(query)}
                if len(ends) == jobs:
                    return ends
                await asyncio.sleep(0.05)
    finally:
        await database.close()


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
