"""Measures Celery with Redis, each from its own package, on loopback.

Celery is installed from PyPI into a virtual environment of its own, `.cache/celery`, and Redis comes from Debian. Redis
writes nothing to its disk, as Celery users commonly have it; a job's result is kept in Redis, as its end would
otherwise be unknown. The worker has a process for each core.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.throughput.measured import Measured, QueueMissingError

VIRTUAL_ENVIRONMENT = Path(__file__).resolve().parents[2] / ".cache" / "celery"
PYTHON = VIRTUAL_ENVIRONMENT / "bin" / "python"
START_SECONDS = 30
RUN_SECONDS = 180

APPLICATION = """
import time
import celery

app = celery.Celery("noop", broker="{url}/0", backend="{url}/1")
app.conf.worker_prefetch_multiplier = 64
app.conf.broker_connection_retry_on_startup = True

@app.task
def no_op():
    return time.time()
"""
CLIENT = """
import json, sys, time
import noop

noop.no_op.delay().get(timeout=30)
begins, results = [], []
for _ in range(int(sys.argv[1])):
    begins.append(time.time())
    results.append(noop.no_op.delay())
ends = [result.get(timeout={seconds}) for result in results]
print(json.dumps([begins, ends]))
"""


def measure(folder: Path, jobs: int) -> Measured:
    """Runs no-op tasks; raises QueueMissingError."""
    if shutil.which("redis-server") is None:
        raise QueueMissingError("no redis-server: apt-get install redis-server")
    _install()
    with _running(folder):
        client = [PYTHON, "-c", CLIENT.format(seconds=RUN_SECONDS), str(jobs)]
        answer = subprocess.run(client, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise QueueMissingError(f"Celery: {answer.stderr.strip()[-500:]}")
    begins, ends = json.loads(answer.stdout)
    latencies = [end - begin for begin, end in zip(begins, ends, strict=True)]
    return Measured("Celery with Redis", max(ends) - min(begins), latencies, "nothing on disk")


def _install() -> None:
    if PYTHON.exists():
        return
    for command in (
        [sys.executable, "-m", "venv", VIRTUAL_ENVIRONMENT],
        [PYTHON, "-m", "pip", "install", "--quiet", "celery[redis]", "packaging"],
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            shutil.rmtree(VIRTUAL_ENVIRONMENT, ignore_errors=True)
            raise QueueMissingError("Celery could not be installed from PyPI")


@contextmanager
def _running(folder: Path) -> Generator[None]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    (folder / "noop.py").write_text(APPLICATION.format(url=f"redis://127.0.0.1:{port}"))
    redis = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    worker = [PYTHON, "-m", "celery", "-A", "noop", "worker", "--concurrency", str(os.cpu_count() or 1)]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in (("redis", redis), ("worker", worker)):
            with (folder / f"{name}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))
            if name == "redis":
                _wait_until_it_listens(port)
        yield
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise QueueMissingError("redis-server did not start")
