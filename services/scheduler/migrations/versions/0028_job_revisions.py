"""A number for each change of a job, in the order of the commits, so that lists of jobs can be followed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import keys, required, with_default

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Adds the column and the row that counts."""
    op.create_table("job_revision", *keys(sa.Integer, "one"), *required(sa.BigInteger, "revision"))
    op.execute("INSERT INTO job_revision (one, revision) VALUES (1, 0)")
    for column in with_default(sa.BigInteger, revision="0"):
        op.add_column("jobs", column)
    op.create_index("jobs_account_revision", "jobs", ["account_id", "revision"])
