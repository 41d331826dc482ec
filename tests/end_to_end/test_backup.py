"""A Wavepool of real processes that is lost and restored: it has what was backed up, and its ledger is right."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
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


async def proof(data_dir: Path) -> Proof:
    db = Database(f"sqlite+aiosqlite:///{data_dir / 'billing.db'}")
    try:
        return await PostingStore(db).prove()
    finally:
        await db.close()


def test_a_wavepool_that_is_lost_comes_back_as_it_was_backed_up_and_charges_nothing_for_what_is_unknown(
    tmp_path: Path,
) -> None:
    data_dir, kept = tmp_path / "data", tmp_path / "kept"
    wavepool = start(data_dir)
    before = wavepool.submit(reference("leaky-relu"), "check")
    until(lambda: wavepool.ended(before) and wavepool.charges(before), "the first job's charge")
    token, balance = (data_dir / "token").read_text(), wavepool.balance()
    in_flight = wavepool.submit(kernel("slow_leaky_relu"), "check")
    wavepool.wait_for_status(in_flight, "CHECKING")
    made = admin("backup", kept, "--data-dir", data_dir, "--json")
    assert wavepool.ended(in_flight)["verdict"] == "ACCEPTED"
    wavepool.ended(later := wavepool.submit(reference("leaky-relu"), "check"))
    lose(wavepool)

    assert admin("verify", kept, "--data-dir", data_dir, "--json")["faults"] == []
    restored = admin("restore", kept, "--data-dir", data_dir, "--json")
    assert (restored["ended_jobs"], restored["databases"]) == (1, made["databases"])

    wavepool = start(data_dir)
    try:
        assert (data_dir / "token").read_text() == token
        assert wavepool.job(before)["verdict"] == "ACCEPTED"
        ended = wavepool.ended(in_flight)
        assert (ended["state"], ended["verdict"], wavepool.charges(in_flight)) == ("FAILED", "INFRA_ERROR", [])
        assert "restored from a backup" in ended["message"]
        assert wavepool.http.get(f"/api/v1/submissions/{later}").status_code == 404
        until(lambda: float(wavepool.balance()["held_usd"]) == 0, "all holds to be given back")
        assert wavepool.balance()["charged_usd"] == balance["charged_usd"]
        again = wavepool.ended(wavepool.submit(reference("leaky-relu"), "check"))
        assert again["verdict"] == "ACCEPTED"
    finally:
        wavepool.stop()
    assert asyncio.run(proof(data_dir)).faults == []
