"""A Wavepool of real processes that is lost and restored: it has what was backed up, and its ledger is right."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from servicekit.db.database import Database
from services.billing.store.posting_store import PostingStore, Proof
from tests.end_to_end.wavepool_processes import ROOT, Wavepool, kernel, reference, start, until

pytestmark = pytest.mark.slow


def admin(*words: str | Path, status: int = 0) -> Any:
    """What `wavepool admin` answers as JSON, or its words if it refuses."""
    command = [sys.executable, "-m", "wavepool_client.main", "admin", *map(str, words)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == status, run.stderr
    return json.loads(run.stdout) if status == 0 else run.stderr


def lose(wavepool: Wavepool) -> None:
    """Kills everything at once, and removes all data."""
    running = psutil.Process(wavepool.process.pid).children(recursive=True)
    executor = until(lambda: wavepool.process_of("executor"), "the executor")
    wavepool.process.kill()
    wavepool.process.wait(60)
    assert psutil.wait_procs([*running, executor], timeout=60)[1] == []
    wavepool.http.close()
    shutil.rmtree(wavepool.data_dir)


@contextmanager
def stopped(wavepool: Wavepool, name: str) -> Generator[None]:
    """Stops a service, so that what is in flight stays so however long a backup takes."""
    process = until(lambda: wavepool.process_of(name), f"a process of {name}")
    process.suspend()
    yield
    process.resume()


async def proof(data_dir: Path) -> Proof:
    db = Database(f"sqlite+aiosqlite:///{data_dir / 'billing.db'}")
    try:
        return await PostingStore(db).prove()
    finally:
        await db.close()


@pytest.fixture
def starting() -> Iterator[Callable[[Path], Wavepool]]:
    """Starts Wavepools, the last of which is stopped at the end."""
    started: list[Wavepool] = []

    def begin(data_dir: Path) -> Wavepool:
        started.append(start(data_dir))
        return started[-1]

    yield begin
    if started[-1].process.poll() is None:
        started[-1].stop()


def test_a_wavepool_that_is_lost_comes_back_as_it_was_backed_up_and_charges_nothing_for_what_is_unknown(
    tmp_path: Path, starting: Callable[[Path], Wavepool]
) -> None:
    data_dir, kept = tmp_path / "data", tmp_path / "kept"
    wavepool = starting(data_dir)
    before = wavepool.submit(reference("leaky-relu"), "check")
    until(lambda: wavepool.ended(before) and wavepool.charges(before), "the first job's charge")
    token, balance = (data_dir / "token").read_text(), wavepool.balance()
    in_flight = wavepool.submit(kernel("slow_leaky_relu"), "check")
    wavepool.wait_for_status(in_flight, "CHECKING")
    with stopped(wavepool, "scheduler"):
        made = admin("backup", kept, "--data-dir", data_dir, "--json")
    assert wavepool.ended(in_flight)["verdict"] == "ACCEPTED"
    wavepool.ended(later := wavepool.submit(reference("leaky-relu"), "check"))
    lose(wavepool)

    assert admin("verify", kept, "--data-dir", data_dir, "--json")["faults"] == []
    restored = admin("restore", kept, "--data-dir", data_dir, "--json")
    assert (restored["ended_jobs"], restored["databases"]) == (1, made["databases"])

    wavepool = starting(data_dir)
    assert (data_dir / "token").read_text() == token
    assert wavepool.job(before)["verdict"] == "ACCEPTED"
    ended = wavepool.ended(in_flight)
    assert (ended["state"], ended["verdict"], wavepool.charges(in_flight)) == ("FAILED", "INFRA_ERROR", [])
    assert "restored from a backup" in ended["message"]
    assert wavepool.http.get(f"/api/v1/submissions/{later}").status_code == 404
    until(lambda: float(wavepool.balance()["held_usd"]) == 0, "all holds to be given back")
    assert wavepool.balance()["charged_usd"] == balance["charged_usd"]
    again = wavepool.submit(reference("leaky-relu"), "check")
    assert wavepool.ended(again)["verdict"] == "ACCEPTED"
    assert asyncio.run(proof(data_dir)).faults == []
