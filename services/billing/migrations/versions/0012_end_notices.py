"""Users choose if they are mailed when a submission or reservation ends; the mails wait in a table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import required, with_default

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Adds the column and the table; users from before are mailed never."""
    for column in with_default(sa.Text, notify="never"):
        op.add_column("users", column)
    op.create_table(
        "end_notices",
        sa.Column("hold_id", sa.Text, sa.ForeignKey("holds.hold_id"), primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        *required(sa.Text, "subject", "body", "outcome", "failure"),
        *required(sa.Integer, "attempts"),
        *required(sa.BigInteger, "create_time", "time"),
    )
    op.create_index("ix_end_notices_create_time", "end_notices", ["create_time"])
    op.create_index("end_notices_user_time", "end_notices", ["user_id", "create_time"])
    op.create_index("end_notices_due", "end_notices", ["outcome", "time"])
