"""Who may see a job beside its owners, and columns that lists filter and sort by, filled in for the jobs of before.

Where lists are long, PostgreSQL finds the rows of a page in the index `jobs_account_age` alone.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from wavepool.executor.v1.run_event_pb2 import Finished
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.db.migration.columns import with_default
from services.scheduler.jobs.hardware import hardware_of
from services.scheduler.jobs.timing import is_proven
from submissions.modes import MODES
from vocabulary.verdicts import final_status

revision = "0029"
down_revision = "0028"

JOBS_AT_ONCE = 1000
_OVER = ("finished", "cancelled", "failed")
_LISTED_BY = ("dtype", "ran_on", "problem", "mode", "status", "verdict", "hardware", "timing_mode", "queue", "user_id")
_SPEED = ("problem", "proof", "calls_per_second")
_READ = ("job_id", "submission", "result", "state", "verdict", "gpu_type", "machine_gpu_type", "reservation")
_TEXTS = ("dtype", "ran_on", "status", "hardware", "timing_mode")


def upgrade() -> None:
    """Adds and fills the columns, and makes the indexes of lists."""
    texts = dict.fromkeys(_TEXTS, "")
    columns = with_default(sa.Text, visibility="private", **texts) + with_default(sa.Integer, mode="0", proof="0")
    for column in columns + with_default(sa.Float, calls_per_second="0"):
        op.add_column("jobs", column)
    _fill()
    op.drop_index("jobs_account_age", "jobs")
    age = ("create_time", "job_id")
    op.create_index("jobs_account_age", "jobs", ["account_id", *age, *_LISTED_BY])
    op.create_index("jobs_account_speed", "jobs", ["account_id", *_SPEED, *age, "dtype", "ran_on", "hardware"])


def _fill() -> None:
    filled = (*_TEXTS, "mode", "proof", "calls_per_second")
    jobs: Any = sa.table("jobs", *map(sa.column, dict.fromkeys((*_READ, *filled))))
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in filled}
    update = sa.update(jobs).where(jobs.c.job_id == sa.bindparam("filled_id")).values(values)
    connection, last = op.get_bind(), ""
    while True:
        query = sa.select(*(jobs.c[name] for name in _READ)).where(jobs.c.job_id > last)
        rows = connection.execute(query.order_by(jobs.c.job_id).limit(JOBS_AT_ONCE)).all()
        if not rows:
            return
        connection.execute(update, [_filled(row) for row in rows])
        last = rows[-1].job_id


def _filled(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of the columns above
    submission = Submission.FromString(bytes(row.submission))
    found: dict[str, Any] = dict.fromkeys(_TEXTS, "") | {"mode": submission.mode, "dtype": submission.dtype, "proof": 0}
    found |= {"ran_on": row.machine_gpu_type or row.gpu_type, "calls_per_second": 0.0}
    if row.state in _OVER and row.reservation is None:
        found["status"] = final_status(row.state.upper(), row.verdict, MODES.get(submission.mode) or "")
        timed = Finished.FromString(bytes(row.result)).benchmarked
        if any(result.runtime_ns > 0 for result in timed.results):
            hardware = hardware_of(timed.device, row.machine_gpu_type)
            found |= {"hardware": hardware, "timing_mode": timed.timing_mode}
            if 0 < timed.mean_runtime_ns < float("inf"):
                found |= {"proof": 2 if is_proven(timed) else 1, "calls_per_second": 1e9 / timed.mean_runtime_ns}
    return {"filled_id": row.job_id, **{f"new_{name}": value for name, value in found.items()}}
