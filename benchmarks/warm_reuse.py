"""Measures the wait of a job for a warm machine, from the request for a lease to an answer of the executor.

Starts a vmpool of its own (SQLite, local provider, the real executor on `cpu`), warms one machine, and then in turns

    lease -> healthy executor   AcquireLease, then GetCapabilities at the endpoint and with the token of the lease
    bare round trip             GetCapabilities of the same executor, over a channel that is open

and prints p50 and p99 of both and their ratio. In that time a lease commits twice to the database (its release is not
included). With `--fresh-channel` each lease opens a fresh channel to the executor, like a scheduler that has never used
the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import grpc
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import ServiceToken, service_token_of
from vocabulary.bearer import authorization
from vocabulary.ports import free_port

READY_SECONDS = 120.0
CALL_SECONDS = 10.0
WARM_UP = 20


@contextmanager
def running_vmpool() -> Generator[tuple[str, ServiceToken]]:
    """A vmpool on a free port; gives its target and its services' token. Its machines end with it."""
    with tempfile.TemporaryDirectory(prefix="warm-reuse-") as folder:
        port = free_port()
        settings = {
            "VMPOOL_DATA_DIR": folder,
            "VMPOOL_PORT": str(port),
            "VMPOOL_METRICS_PORT": "0",
            "VMPOOL_BILLING_TARGET": "127.0.0.1:1",
            "VMPOOL_LOCAL_EXECUTOR_PORT": "0",
            "VMPOOL_LOG_LEVEL": "ERROR",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "services.vmpool"], env={**os.environ, **settings}, stdout=subprocess.DEVNULL
        )
        try:
            yield f"127.0.0.1:{port}", service_token_of(Path(folder))
        finally:
            process.terminate()
            process.wait()


class Measurement:
    """Leases and bare calls to one pool with one machine."""

    def __init__(self, pool: grpc.Channel, token: ServiceToken, *, fresh_channel: bool) -> None:
        self._pool = vmpool_pb2_grpc.VmPoolServiceStub(pool)
        self._credentials = ServiceCredentials("scheduler", token).metadata()
        self._fresh_channel = fresh_channel
        self._channel: grpc.Channel | None = None
        self._jobs = 0

    def lease(self) -> tuple[vmpool_pb2.Lease, float]:
        """Acquires a lease; gives it with the milliseconds until its executor answered."""
        self._jobs += 1
        request = vmpool_pb2.AcquireLeaseRequest(job_id=f"job{self._jobs}", attempt=1, gpu_type="MI300X", eighths=8)
        start = time.perf_counter_ns()
        answer = self._pool.AcquireLease(request, timeout=CALL_SECONDS, wait_for_ready=True, metadata=self._credentials)
        lease = answer.grants[0].lease
        self._ask(lease)
        return lease, (time.perf_counter_ns() - start) / 1e6

    def bare(self, lease: vmpool_pb2.Lease) -> float:
        """Milliseconds of one call to the executor, over the open channel."""
        start = time.perf_counter_ns()
        self._call(self._open(lease), lease)
        return (time.perf_counter_ns() - start) / 1e6

    def release(self, lease: vmpool_pb2.Lease) -> None:
        """Give the machine back."""
        self._pool.ReleaseLease(
            vmpool_pb2.ReleaseLeaseRequest(lease_id=lease.lease_id), timeout=CALL_SECONDS, metadata=self._credentials
        )

    def first_lease(self) -> None:
        """Waits for the machine."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                self.release(self.lease()[0])
            except grpc.RpcError as error:
                if time.monotonic() > deadline:
                    raise SystemExit(f"no machine became ready: {error}") from error
                time.sleep(0.1)
            else:
                return

    def _ask(self, lease: vmpool_pb2.Lease) -> None:
        if not self._fresh_channel:
            self._call(self._open(lease), lease)
            return
        with grpc.insecure_channel(lease.executor_endpoint) as channel:
            self._call(channel, lease)

    def _open(self, lease: vmpool_pb2.Lease) -> grpc.Channel:
        if self._channel is None:
            self._channel = grpc.insecure_channel(lease.executor_endpoint)
        return self._channel

    def _call(self, channel: grpc.Channel, lease: vmpool_pb2.Lease) -> None:
        metadata = (authorization(lease.executor_token),)
        executor_pb2_grpc.ExecutorServiceStub(channel).GetCapabilities(
            executor_pb2.GetCapabilitiesRequest(), timeout=CALL_SECONDS, metadata=metadata
        )


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The p50 and p99 of the values."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[98]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leases", type=int, default=300, help="how many of each (default 300)")
    parser.add_argument("--fresh-channel", action="store_true", help="open a channel to the executor for each lease")
    arguments = parser.parse_args()
    leased: list[float] = []
    bare: list[float] = []
    with running_vmpool() as (target, token), grpc.insecure_channel(target) as pool:
        measurement = Measurement(pool, token, fresh_channel=arguments.fresh_channel)
        measurement.first_lease()
        for _ in range(WARM_UP + arguments.leases):
            lease, waited = measurement.lease()
            leased.append(waited)
            bare.append(measurement.bare(lease))
            measurement.release(lease)
    report(leased[WARM_UP:], bare[WARM_UP:])


def report(leased: Sequence[float], bare: Sequence[float]) -> None:
    """Prints the table."""
    (leased_p50, leased_p99), (bare_p50, bare_p99) = percentiles(leased), percentiles(bare)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {len(leased)} of each, in turns")
    print(f"{'':<32}{'p50 ms':>10}{'p99 ms':>10}")
    print(f"{'lease -> healthy executor':<32}{leased_p50:>10.2f}{leased_p99:>10.2f}")
    print(f"{'bare round trip':<32}{bare_p50:>10.2f}{bare_p99:>10.2f}")
    print(f"{'ratio':<32}{leased_p50 / bare_p50:>10.1f}{leased_p99 / bare_p99:>10.1f}")


if __name__ == "__main__":
    main()
