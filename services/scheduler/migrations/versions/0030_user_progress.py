"""How often each user tried and solved each problem, and on which days each user submitted."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa
from alembic import op
from wavepool.submission.v1.submission_pb2 import RUN_MODE_BENCHMARK, RUN_MODE_CHECK, RUN_MODE_FULL, Submission

from servicekit.db.database import Instant
from servicekit.db.migration.columns import keys, required

revision = "0030"
down_revision = "0029"

_TRIES = frozenset({RUN_MODE_CHECK, RUN_MODE_BENCHMARK, RUN_MODE_FULL})
_JOBS = sa.table(
    "jobs",
    *[sa.column(name, sa.Text) for name in ("user_id", "problem", "verdict", "state", "reservation")],
    sa.column("submission", sa.LargeBinary),
    sa.column("has_definition", sa.Boolean),
    sa.column("create_time", Instant),
)
_ROWS_AT_A_TIME = 1000


def upgrade() -> None:
    """Creates the tables, and counts what has ended so far."""
    op.create_table(
        "problem_attempts",
        *keys(sa.Text, "user_id", "problem", "dtype"),
        *required(sa.BigInteger, "attempts", "solves"),
    )
    op.create_table("problem_solvers", *keys(sa.Text, "dtype", "problem"), *required(sa.BigInteger, "users"))
    op.create_table("submission_days", *keys(sa.Text, "user_id", "day"), *required(sa.BigInteger, "submissions"))
    kind = ("hardware", "dtype", "timing_mode")
    op.create_index("proven_times_records", "proven_times", ["problem", *kind, "runtime_ns"])
    op.create_index("proven_times_of_user", "proven_times", ["user_id", *kind, "problem", "runtime_ns"])
    count_ended()


def count_ended() -> None:
    """Adds what has ended so far to the tables, which are empty."""
    tries: Counter[tuple[str, str, str]] = Counter()
    solves: Counter[tuple[str, str, str]] = Counter()
    days: Counter[tuple[str, str]] = Counter()
    ended = (_JOBS.c.state == "finished") & (_JOBS.c.user_id != "") & _JOBS.c.reservation.is_(None)
    for job in op.get_bind().execute(sa.select(_JOBS).where(ended)).yield_per(_ROWS_AT_A_TIME):
        days[job.user_id, job.create_time.date().isoformat()] += 1
        submission = Submission.FromString(bytes(job.submission))
        if job.problem and not job.has_definition and submission.mode in _TRIES:
            for dtype in (submission.dtype or "float32", ""):
                key = job.user_id, job.problem, dtype
                tries[key] += 1
                solves[key] += submission.mode == RUN_MODE_FULL and job.verdict == "ACCEPTED"
    _insert("problem_attempts", [(*key, count, solves[key]) for key, count in tries.items()])
    solvers = Counter((dtype, problem) for (_, problem, dtype), count in solves.items() if count)
    _insert("problem_solvers", [(*key, count) for key, count in solvers.items()])
    _insert("submission_days", [(*key, count) for key, count in days.items()])


def _insert(name: str, rows: list[tuple[object, ...]]) -> None:
    table = sa.Table(name, sa.MetaData(), autoload_with=op.get_bind())
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        values = [dict(zip(table.c.keys(), row, strict=True)) for row in rows[start : start + _ROWS_AT_A_TIME]]
        op.bulk_insert(table, values)
