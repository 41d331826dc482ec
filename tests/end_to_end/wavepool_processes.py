"""A whole Wavepool of real processes, and small operations that tests perform on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

from tests import schemas
from tests.needs import torch_program
from wavepool_client.http.connection import verification_for

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).parent / "kernels"
START_SECONDS = 90
TIMEOUT_SECONDS = 60.0
SHORTEST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.02, 0.2
ENDED = {"FINISHED", "CANCELLED", "FAILED"}


def kernel(name: str) -> str:
    return (KERNELS / f"{name}.hip").read_text()


def reference(problem: str) -> str:
    return (ROOT / "problems" / "catalogue" / problem / "solution.hip").read_text()


def until(question: Callable[[], T | None], what: str, seconds: float = TIMEOUT_SECONDS) -> T:
    """Polls until the answer is true; fails the test after `seconds`, naming `what` it waited for.

    The longer it waited, the less often it asks: a question may make several processes work, beside those waited for.
    """
    begin = time.monotonic()
    while not (answer := question()):
        waited = time.monotonic() - begin
        assert waited < seconds, f"waited {seconds:.0f} s for {what}"
        time.sleep(min(max(SHORTEST_POLL_SECONDS, waited / 10), LONGEST_POLL_SECONDS))
    return answer


@dataclass
class Frame:
    """One frame of an event stream, as it came over the wire."""

    event: str = ""
    id: str = ""
    retry: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def frames(response: httpx.Response) -> Iterator[Frame]:
    """Reads frames off the wire without a library, so that the tests check exactly what was sent."""
    frame, seen = Frame(), False
    for line in response.iter_lines():
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if seen:
                yield frame
                frame = Frame()
            seen = False
        elif name == "data":
            frame.data, seen = json.loads(value), True
        elif name in {"event", "id", "retry"}:
            setattr(frame, name, value)
            seen = seen or name != "retry"


class Wavepool:
    """One `wavepool up`."""

    def __init__(self, data_dir: Path, process: subprocess.Popen[bytes]) -> None:
        self.data_dir = data_dir
        self.process = process
        self.endpoint = ""
        self.http = httpx.Client(trust_env=False, verify=verification_for("http:"))

    def connect(self) -> None:
        """Waits until everything is ready."""
        self.endpoint = until(lambda: self._read("endpoint"), "the endpoint file", START_SECONDS)
        until(self._is_ready, "readiness", START_SECONDS)
        token = until(lambda: self._read("token"), "the token file", START_SECONDS)
        self.http.close()
        self.http = httpx.Client(
            base_url=self.endpoint,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
            verify=verification_for(self.endpoint),
        )

    def submit(self, source: str, mode: str = "full", problem: str = "leaky-relu", **fields: Any) -> str:
        """Submits and returns the id."""
        answer = self.http.post("/api/v1/submissions", json={"problem": problem, "code": source, "mode": mode} | fields)
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    @contextmanager
    def following(self, job_id: str, after: str | None = None) -> Generator[Iterator[Frame]]:
        """The job's event stream."""
        headers = {"Last-Event-ID": after} if after else {}
        with self.http.stream("GET", f"/api/v1/submissions/{job_id}/events", headers=headers) as response:
            assert response.status_code == 200
            yield (frame for frame in frames(response) if frame.event != "heartbeat")

    def story(self, job_id: str, after: str | None = None) -> list[Frame]:
        """Every frame to the end of the job."""
        with self.following(job_id, after) as stream:
            return list(stream)

    def wait_for_status(self, job_id: str, status: str) -> None:
        """Follows the job until a frame has this status."""
        with self.following(job_id) as stream:
            for frame in stream:
                if frame.event == status:
                    return
        raise AssertionError(f"{job_id} ended before {status}")

    def job(self, job_id: str) -> dict[str, Any]:
        """The job as it is now."""
        return self.http.get(f"/api/v1/submissions/{job_id}").json()

    def ended(self, job_id: str) -> dict[str, Any]:
        """The job once it is over."""

        def over() -> dict[str, Any] | None:
            job = self.job(job_id)
            return job if job.get("state") in ENDED else None

        return until(over, f"the end of {job_id}", 90)

    def charges(self, job_id: str) -> list[dict[str, Any]]:
        """The ledger's charges for a job."""
        return self._postings(job_id, "CHARGE")

    def paid_usd(self, job_id: str) -> float:
        """What the ledger has charged for a job, less what it has given back."""
        return -sum(one["amount_usd"] for one in self._postings(job_id, "CHARGE", "REFUND"))

    def _postings(self, job_id: str, *kinds: str) -> list[dict[str, Any]]:
        postings = self.http.get("/api/v1/costs", params={"page_size": 500}).json()["postings"]
        return [one for one in postings if one["kind"] in kinds and job_id in json.dumps(one)]

    def balance(self) -> dict[str, Any]:
        """The account's balance, without its postings."""
        costs = self.http.get("/api/v1/costs").json()
        return {key: value for key, value in costs.items() if key != "postings"}

    def process_of(self, name: str) -> psutil.Process | None:
        """The running process of a service; an executor has no parent here, so its machine's folder gives its id."""
        if name == "executor":
            return self._executor()
        module = "gateway" if name == "gateway" else f"services.{name}"
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                arguments = process.cmdline()
            except psutil.NoSuchProcess:
                continue
            if arguments[1:3] == ["-m", module]:
                return process
        return None

    def _executor(self) -> psutil.Process | None:
        for note in self.data_dir.glob("machines/*/process.json"):
            try:
                return psutil.Process(json.loads(note.read_text())["executor_pid"])
            except (psutil.NoSuchProcess, FileNotFoundError, ValueError):
                continue
        return None

    def kill(self, name: str) -> None:
        """SIGKILLs a service and waits until it is gone."""
        process = until(lambda: self.process_of(name), f"a process of {name}")
        process.send_signal(signal.SIGKILL)
        psutil.wait_procs([process], timeout=10)

    def stop(self) -> None:
        """Ends everything as Ctrl-C would."""
        self.http.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def _read(self, name: str) -> str:
        assert self.process.poll() is None, self._log()
        path = self.data_dir / name
        return path.read_text().strip() if path.exists() else ""

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, self._log()
        try:
            return self.http.get(f"{self.endpoint}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def _log(self) -> str:
        return (self.data_dir / "up.log").read_text()[-4000:]


def _torch() -> dict[str, str]:
    program = torch_program()
    return {"EXECUTOR_TORCH_PYTHON": str(program)} if program else {}


def start(data_dir: Path, **environment: str) -> Wavepool:
    """Starts a Wavepool on free ports; the compile cache and the toolchain are the machine's own."""
    data_dir.mkdir(parents=True, exist_ok=True)
    schemas.prepare(data_dir)
    with (data_dir / "up.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "wavepool_client.main", "up", "--free-ports", "--data-dir", str(data_dir)],
            stdout=log,
            stderr=log,
            cwd=ROOT,
            env=os.environ | _torch() | environment,
        )
    wavepool = Wavepool(data_dir, process)
    wavepool.connect()
    return wavepool
