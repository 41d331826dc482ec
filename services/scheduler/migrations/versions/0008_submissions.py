"""Stores a job's submission as one wavepool.submission.v1.Submission instead of one column for each field."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import op
from wavepool.submission.v1.submission_pb2 import RunMode, Submission, TimingMode

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

revision = "0008"
down_revision = "0007"

_FIELDS = ("mode", "dtype", "language", "timing_mode")
_TEXTS = ("source", "launch_plan", "problem_def")
_JOBS = sa.table("jobs", *map(sa.column, ("job_id", "fingerprint", "submission", "problem", "gpu_type", "priority")))
_TEXTS_OF_JOBS = sa.table("job_texts", sa.column("job_id"), sa.column("texts"))


def upgrade() -> None:
    """Build the messages from the columns, then drop the columns."""
    op.add_column("jobs", sa.Column("submission", sa.LargeBinary, nullable=False, server_default=sa.text("''")))
    op.create_table(
        "job_texts",
        sa.Column("job_id", sa.Text, sa.ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("texts", sa.LargeBinary, nullable=False),
    )
    connection = op.get_bind()
    for job_id in connection.execute(sa.select(_JOBS.c.job_id)).scalars().all():
        query = sa.text("SELECT * FROM jobs JOIN job_sources USING (job_id) WHERE job_id = :job_id")
        row = connection.execute(query, {"job_id": job_id}).mappings().one()
        rest, texts = _rest(row), _texts(row)
        said = {field.name: value for field, value in [*rest.ListFields(), *texts.ListFields()]}
        written = {"submission": rest.SerializeToString(), "fingerprint": _fingerprint(said, row)}
        connection.execute(sa.update(_JOBS).where(_JOBS.c.job_id == job_id).values(written))
        connection.execute(sa.insert(_TEXTS_OF_JOBS).values(job_id=job_id, texts=texts.SerializeToString()))
    op.drop_table("job_sources")
    for name in _FIELDS:
        op.drop_column("jobs", name)


def _rest(row: RowMapping) -> Submission:
    timing = (row["timing_mode"] or "unspecified").upper().replace("-", "_")
    return Submission(
        problem=row["problem"],
        mode=RunMode.Value(f"RUN_MODE_{row['mode'].upper()}"),
        dtype=row["dtype"],
        language=row["language"],
        timing_mode=TimingMode.Value(f"TIMING_MODE_{timing}"),
    )


def _texts(row: RowMapping) -> Submission:
    source, launch_plan, definition = (row[name] for name in _TEXTS)
    return Submission(source=source, launch_plan=launch_plan, problem_definition=definition)


def _fingerprint(said: dict[str, Any], row: RowMapping) -> str:
    """Computes the fingerprint as `jobs/submission_checks.py` does, so that the keys of these jobs stay valid."""
    gpu_types = [row["gpu_type"], *json.loads(row["fallback_gpu_types"])]
    content = json.dumps([said, gpu_types, row["priority"]], sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()
