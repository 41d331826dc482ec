"""How far each time that ranks is known, filled in from the results of its job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from wavepool.executor.v1.run_event_pb2 import Finished

from servicekit.db.migration.columns import with_default
from vocabulary.intervals import interval_of_mean

revision = "0033"
down_revision = "0032"

TIMES_AT_ONCE = 1000
_JOBS = sa.table("jobs", sa.column("job_id"), sa.column("result", sa.LargeBinary))
_TIMES = sa.table("proven_times", sa.column("job_id"), sa.column("interval", sa.Float))


def upgrade() -> None:
    """Adds the column, and fills it."""
    for column in with_default(sa.Float, interval="0"):
        op.add_column("proven_times", column)
    fill(op.get_bind())


def fill(connection: sa.Connection) -> None:
    """Computes the intervals of the times that have none."""
    query = sa.select(_TIMES.c.job_id, _JOBS.c.result).join(_JOBS, _JOBS.c.job_id == _TIMES.c.job_id)
    update = sa.update(_TIMES).where(_TIMES.c.job_id == sa.bindparam("of")).values(interval=sa.bindparam("is"))
    last = ""
    while True:
        page = query.where(_TIMES.c.job_id > last).order_by(_TIMES.c.job_id).limit(TIMES_AT_ONCE)
        rows = connection.execute(page).all()
        if not rows:
            return
        connection.execute(update, [{"of": row.job_id, "is": _interval_of(bytes(row.result))} for row in rows])
        last = rows[-1].job_id


def _interval_of(result: bytes) -> float:
    return interval_of_mean(Finished.FromString(result).benchmarked.results)
