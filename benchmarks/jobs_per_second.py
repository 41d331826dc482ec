"""Measures durable no-op jobs a second, from submit to done, beside Slurm and Celery on the same machine.

    sqlite, postgresql   our scheduler as it is deployed, a process of its own, with a pool, an executor and a billing
                         service that answer at once; each job is on disk before each of its steps
    Slurm                from Debian (`slurm-wlm`, `munge`), one node, set for high throughput
    Celery with Redis    from PyPI and Debian; nothing on disk

The queues run one after the other, so that each has all cores. One that cannot be installed is named, and left out. The
aims are 500 jobs/s, ten times Slurm's rate, and Celery's. Run: `python benchmarks/jobs_per_second.py [--jobs 2000]`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Generator, Sequence

from benchmarks.throughput import celery_queue, slurm_queue, wavepool_queue
from benchmarks.throughput.measured import Measured, QueueMissingError
from tests.postgres_server import PostgresServer, program

AIM, TIMES_SLURM = 500, 10
QUEUES = ("sqlite", "postgresql", "slurm", "celery")


@contextmanager
def databases(chosen: Sequence[str], folder: Path) -> Generator[list[tuple[str, str]]]:
    """The URL of an empty database of each kind that is chosen."""
    found = [("sqlite", f"sqlite+aiosqlite:///{folder / 'jobs.db'}")] if "sqlite" in chosen else []
    if "postgresql" not in chosen or program("postgres") is None:
        yield found
        return
    server = PostgresServer(durable=True)
    server.start()
    try:
        yield [*found, ("postgresql", server.create_database())]
    finally:
        server.stop()


def run_all(options: argparse.Namespace) -> Generator[Measured | str]:
    """The result of each queue, or why it is left out."""
    with tempfile.TemporaryDirectory(prefix="wavepool-jobs-") as root:
        with databases(options.only, Path(root)) as found:
            for name, url in found:
                folder = Path(root) / name
                folder.mkdir()
                yield wavepool_queue.measure(name, url, folder, options.jobs, options.in_flight, options.machines)
        for name, measure, jobs in (
            ("slurm", slurm_queue.measure, options.slurm_jobs),
            ("celery", celery_queue.measure, options.jobs),
        ):
            folder = Path(root) / name
            folder.mkdir()
            if name in options.only:
                try:
                    yield measure(folder, jobs)
                except QueueMissingError as error:
                    yield f"{name}: left out: {error}"


def main() -> None:
    """Prints a line for each queue, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000, help="jobs of ours and of Celery (default 2000)")
    parser.add_argument("--slurm-jobs", type=int, default=300, help="jobs of Slurm, which is slower (default 300)")
    parser.add_argument("--in-flight", type=int, default=128, help="jobs of ours that have not settled (default 128)")
    parser.add_argument("--machines", type=int, default=8, help="machines of 8 GPUs (default 8)")
    parser.add_argument("--only", nargs="+", choices=QUEUES, default=QUEUES)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':<34} {'jobs':>6} {'rate':>10} {'p50':>12} {'p99':>12}")
    rates: dict[str, float] = {}
    for result in run_all(options):
        print(result if isinstance(result, str) else result.line(), flush=True)
        if isinstance(result, Measured):
            rates[result.name] = result.jobs_per_second
    for name, times in (("Slurm", TIMES_SLURM), ("Celery with Redis", 1)):
        for own in {"sqlite", "postgresql"} & set(rates):
            if name in rates:
                print(f"{own} / {name}: {rates[own] / rates[name]:.2f}, aim {times}")
    for own in {"sqlite", "postgresql"} & set(rates):
        print(f"{own}: {rates[own]:.0f} jobs/s, aim {AIM}")


if __name__ == "__main__":
    main()
