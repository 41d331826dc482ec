"""The databases of older schedulers can be read."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from wavepool.scheduler.v1.scheduler_pb2 import SubmitJobRequest
from wavepool.submission.v1.submission_pb2 import (
    RUN_MODE_CHECK,
    RUN_MODE_FULL,
    RUN_MODE_SANDBOX,
    TIMING_MODE_FIRST_CALL,
    Submission,
)

from servicekit.db.database import Database, migrate
from services.scheduler.jobs.resources import WHOLE_GPU
from services.scheduler.jobs.submission_checks import admit, fingerprint
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.cluster import PROBLEMS
from vocabulary.gpu_types import GPU_TYPES
from vocabulary.slots import Slot

if TYPE_CHECKING:
    from sqlalchemy import Connection

KNOWN = {slug: entry.problem for slug, entry in PROBLEMS.items()}
PLAN = '{"launches": [{"kernel": "k", "grid": ["n"], "block": [1], "args": ["input", "output"]}]}'
OLD_ROWS = {
    "full": (
        {"problem": "leaky-relu", "mode": "full", "timing_mode": "first-call", "fallback_gpu_types": '["MI210"]'},
        {"source": "// é", "launch_plan": PLAN, "problem_def": ""},
        Submission(
            problem="leaky-relu",
            source="// é",
            launch_plan=PLAN,
            mode=RUN_MODE_FULL,
            dtype="float32",
            language="hip",
            timing_mode=TIMING_MODE_FIRST_CALL,
        ),
    ),
    "check": (
        {"problem": "of-my-own", "mode": "check", "timing_mode": None, "fallback_gpu_types": "[]"},
        {"source": "// mine", "launch_plan": "", "problem_def": "class Mine: pass"},
        Submission(
            problem="of-my-own",
            source="// mine",
            problem_definition="class Mine: pass",
            mode=RUN_MODE_CHECK,
            dtype="float32",
            language="hip",
        ),
    ),
    "sandbox": (
        {"problem": "", "mode": "sandbox", "timing_mode": None, "fallback_gpu_types": "[]"},
        {"source": "int main() {}", "launch_plan": "", "problem_def": ""},
        Submission(source="int main() {}", mode=RUN_MODE_SANDBOX, dtype="float32", language="hip"),
    ),
}
REST = {
    "account_id": "account-1",
    "fingerprint": "of before",
    "gpu_type": "MI300X",
    "dtype": "float32",
    "language": "hip",
    "priority": 0,
    "state": "queued",
    "hold_id": "hold-1",
    "machine_id": "",
    "request_id": "",
    "verdict": "",
    "message": "",
    "attempt": 1,
    "create_time": 0,
    "price_micros_per_hour": 1,
    "hold_micros": 1,
    "run_seq": 0,
    "last_seq": 1,
    "cost_micros": 0,
    "result": b"",
}


def insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)  # noqa: S608 - names of ours


def upgrade_to(connection: Connection, revision: str) -> None:
    with as_file(files("servicekit.db") / "migration") as environment, as_file(files("services.scheduler")) as ours:
        config = Config()
        config.set_main_option("script_location", str(environment))
        config.set_main_option("version_locations", str(ours / "migrations" / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def as_it_was_at_0007(connection: Connection) -> None:
    upgrade_to(connection, "0007")
    for job_id, (columns, texts, _) in OLD_ROWS.items():
        insert(connection, "jobs", {**REST, **columns, "job_id": job_id, "idempotency_key": job_id})
        insert(connection, "job_sources", {"job_id": job_id, **texts})


@pytest.mark.parametrize("job_id", OLD_ROWS)
async def test_jobs_of_before_there_were_submissions_are_read_and_their_keys_known(
    database_url: str, job_id: str
) -> None:
    database = Database(database_url)
    try:
        async with database.transaction() as connection:
            await connection.run_sync(as_it_was_at_0007)
        await migrate(database, MIGRATIONS)
        store = JobStore(database, lambda _: None)
        job = await store.get(job_id)
        assert job is not None
        sent = await store.whole_submission(job)
        again = SubmitJobRequest(account_id=job.account_id, idempotency_key=job_id)
        again.spec.submission.CopyFrom(sent)
        again.spec.fallback_gpu_types.extend(job.spec.fallback_gpu_types)
    finally:
        await database.close()
    assert sent == OLD_ROWS[job_id][2]
    assert job.spec.gpu_types == (("MI300X", "MI210") if job_id == "full" else ("MI300X",))
    assert job.spec.submission.source == ""
    assert job.fingerprint == fingerprint(admit(again, KNOWN, GPU_TYPES))


def leased_at_0015(connection: Connection) -> None:
    """One job with the slot of its lease, one from before leases named slots, and one that waits."""
    upgrade_to(connection, "0015")
    lease = {
        "executor_endpoint": "",
        "executor_token": "",
        "fencing_token": 1,
        "expire_time": 0,
        "eighths": 4,
        "state": "running",
        "start_time": 0,
    }
    slots = {"placed": {"lease_id": "l1", "gpu": 1, "first_eighth": 4, **lease}, "old": {"lease_id": "l2", **lease}}
    submission = Submission(source="s", mode=RUN_MODE_SANDBOX).SerializeToString()
    rest = {name: value for name, value in REST.items() if name not in {"dtype", "language"}}
    for job_id, columns in {**slots, "waiting": {}}.items():
        insert(connection, "jobs", {**rest, "problem": "", "submission": submission, "job_id": job_id, **columns})


async def test_the_slots_of_leases_are_kept_and_earlier_jobs_take_one_whole_gpu(database_url: str) -> None:
    database = Database(database_url)
    try:
        async with database.transaction() as connection:
            await connection.run_sync(leased_at_0015)
        await migrate(database, MIGRATIONS)
        jobs = {job_id: await JobStore(database, lambda _: None).get(job_id) for job_id in ("placed", "old", "waiting")}
    finally:
        await database.close()

    leases = {job_id: job.lease and job.lease.slots for job_id, job in jobs.items() if job}
    assert leases == {"placed": (Slot(1, 4, 4),), "old": (Slot(0, 0, 4),), "waiting": None}
    assert {job.spec.resources for job in jobs.values() if job} == {WHOLE_GPU}
