"""Measures the time that Wavepool adds to a warm submission, to the user's first instruction and to the last event.

Starts a Wavepool of its own on this machine (SQLite, local provider, `cpu` device) and submits the same kernel again
and again, so that machine and compile cache are warm. The kernel prints the monotonic clock, which all processes of a
machine share, when its code is first reached and whenever a call of it ends.

    submit -> first instruction   user's clock at the first call, less the client's clock before the POST
    submit -> last event          client's clock at the last frame, less the time within the user's calls
    gateway / direct gRPC         the same read of one job, through HTTP and straight from the scheduler

`--stages` also shows the time of each stage, from the services' logs. `--pause` waits between submissions. Without it
each submission comes while the executor still prepares judges and sandboxes for the next, as under load; with it the
machine is at rest.

Compile time is excluded by the cache: `compiled` frames say `cached`, and the program checks that they do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx
from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc

from benchmarks.submission_stages import Measured, spans_by_request, stages_of, table
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import ServiceToken, service_token_of

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 90
NS_PER_MS = 1e6

KERNEL = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <ctime>

static long long now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) output[i] = input[i] > 0 ? input[i] : alpha * input[i];
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    long long begin = now_ns();
    size_t count = n * m;
    leaky_relu<<<(count + 255) / 256, 256>>>(input, alpha, output, count);
    (void)hipDeviceSynchronize();
    printf("%lld %lld\n", begin, now_ns());
    fflush(stdout);
}
"""


@contextmanager
def running_wavepool() -> Generator[tuple[httpx.Client, Path]]:
    """Runs a Wavepool on free ports; gives a client with its token, and its data folder."""
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        command = [sys.executable, "-m", "wavepool_client.main", "up", "--free-ports", "--data-dir", folder]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            endpoint = ready_endpoint(data_dir)
            token = (data_dir / "token").read_text().strip()
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=endpoint, headers=headers, timeout=120, trust_env=False) as client:
                yield client, data_dir
        finally:
            process.terminate()
            process.wait()


def ready_endpoint(data_dir: Path) -> str:
    """The gateway's URL, once all services are ready."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            endpoint = (data_dir / "endpoint").read_text().strip()
            if httpx.get(f"{endpoint}/readyz", trust_env=False).is_success:
                return endpoint
        except (OSError, httpx.TransportError, httpx.UnsupportedProtocol):
            pass
        time.sleep(0.1)
    raise SystemExit("Wavepool did not become ready")


@dataclass(frozen=True)
class Submission:
    """One warm submission; the times that Wavepool added to it, in milliseconds."""

    to_first_instruction_ms: float
    to_last_event_ms: float
    """Without the time within the user's calls."""
    measured: Measured


def submission(client: httpx.Client) -> Submission:
    """Submits once, and follows to the end."""
    unix_ns = time.time_ns() - time.monotonic_ns()
    start_ns = time.monotonic_ns()
    taken = client.post("/api/v1/submissions", json={"problem": "leaky-relu", "code": KERNEL, "mode": "check"})
    job = taken.json()
    frames: list[dict[str, object]] = []
    with client.stream("GET", job["events_url"]) as response:
        frames = [json.loads(line[5:]) for line in response.iter_lines() if line.startswith("data:")]
    end_ns = time.monotonic_ns()
    last = frames[-1]
    if last["status"] != "CHECKED" or not any(f["status"] == "COMPILING" and f["cached"] for f in frames):
        raise SystemExit(f"not a warm, accepted submission: {last}")
    calls = [tuple(map(int, line.split())) for line in str(last["stdout"]).splitlines()]
    in_user_code_ns = sum(end - begin for begin, end in calls)
    marks_ms = [(unix_ns + mark_ns) / NS_PER_MS for mark_ns in (start_ns, calls[0][0], end_ns)]
    return Submission(
        (calls[0][0] - start_ns) / NS_PER_MS,
        (end_ns - start_ns - in_user_code_ns) / NS_PER_MS,
        Measured(taken.headers["X-Request-Id"], *marks_ms),
    )


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each call."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - start) / NS_PER_MS)
    return times


def read_latency(
    client: httpx.Client, target: str, service_token: ServiceToken, repeats: int
) -> tuple[list[float], list[float]]:
    """Milliseconds to read one job through the gateway, and straight from the scheduler, taken in turns."""
    job = client.get("/api/v1/submissions", params={"page_size": 1}).json()["submissions"][0]
    through: list[float] = []
    direct: list[float] = []
    with grpc.insecure_channel(target) as channel:
        stub = scheduler_pb2_grpc.SchedulerServiceStub(channel)
        credentials = ServiceCredentials("gateway", service_token).metadata()
        request = scheduler_pb2.GetJobRequest(job_id=job["id"])
        for _ in range(10):
            through += timed(lambda: client.get(f"/api/v1/submissions/{job['id']}").raise_for_status(), repeats // 10)
            direct += timed(lambda: stub.GetJob(request, metadata=credentials), repeats // 10)
    return through, direct


def row(name: str, values: Sequence[float], unit: str = "ms") -> str:
    """A line of the table: p50 and p99."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"{name:<34} {cuts[49]:9.2f} {cuts[98]:9.2f}  {unit}"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=50, help="warm submissions to measure (default 50)")
    parser.add_argument("--reads", type=int, default=500, help="reads to compare gateway and gRPC by (default 500)")
    parser.add_argument("--pause", type=float, default=0, help="seconds between submissions (default 0)")
    parser.add_argument("--stages", action="store_true", help="tell where the time of submissions went")
    options = parser.parse_args()
    with running_wavepool() as (client, data_dir):
        for _ in range(3):
            cold_then_warm(client)
        overheads = [paused_submission(client, options.pause) for _ in range(options.submissions)]
        stages = stage_table(data_dir, [one.measured for one in overheads]) if options.stages else ""
        through, direct = read_latency(client, scheduler_target(data_dir), service_token_of(data_dir), options.reads)
    print(f"{options.submissions} warm submissions, {options.reads} reads\n{'':<34} {'p50':>9} {'p99':>9}")
    print(row("submit -> first instruction", [one.to_first_instruction_ms for one in overheads]))
    print(row("submit -> last event, less kernels", [one.to_last_event_ms for one in overheads]))
    print(row("read through the gateway", through))
    print(row("read by direct gRPC", direct))
    print(f"{'gateway / direct gRPC, p50':<34} {statistics.median(through) / statistics.median(direct):9.2f}  x")
    if stages:
        print(f"\n{stages}")


def paused_submission(client: httpx.Client, pause_seconds: float) -> Submission:
    """A submission to a machine that was idle for a while."""
    time.sleep(pause_seconds)
    return submission(client)


def stage_table(data_dir: Path, submissions: Sequence[Measured]) -> str:
    """The stages of these submissions, from the logs of that Wavepool."""
    lines = [line for log in (data_dir / "logs").glob("*.log") for line in log.read_text().splitlines()]
    spans = spans_by_request(lines)
    return table([stages_of(one, spans[one.request_id]) for one in submissions])


def cold_then_warm(client: httpx.Client) -> None:
    """Submits once without measuring: starts the machine and fills the cache."""
    job = client.post("/api/v1/submissions", json={"problem": "leaky-relu", "code": KERNEL, "mode": "check"}).json()
    with client.stream("GET", job["events_url"]) as response:
        for _ in response.iter_lines():
            pass


def scheduler_target(data_dir: Path) -> str:
    """Address of that Wavepool's scheduler, from its log."""
    for line in (data_dir / "logs" / "scheduler.log").read_text().splitlines():
        if '"serving"' in line:
            entry = json.loads(line)
            return f"{entry['host']}:{entry['port']}"
    raise SystemExit("the scheduler's log does not tell its port")


if __name__ == "__main__":
    main()
