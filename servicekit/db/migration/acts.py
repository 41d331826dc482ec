"""Makes the tables of the audit log; `servicekit.db.act_store` reads and writes them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import keys, required
from servicekit.db.migration.moves import refuse


def create_acts() -> None:
    """Creates the tables; the database refuses a change of what was written."""
    op.create_table(
        "acts",
        *keys(sa.Text, "act_id"),
        *required(sa.BigInteger, "time"),
        *required(sa.Text, "kind", "user_id", "user_name", "token_id", "address", "request", "request_id"),
    )
    op.create_index("acts_time", "acts", ["time", "act_id"])
    op.create_table(
        "act_outcomes",
        sa.Column("act_id", sa.Text, sa.ForeignKey("acts.act_id"), primary_key=True),
        *required(sa.Text, "outcome", "message", "before", "after"),
    )
    for table in ("acts", "act_outcomes"):
        for action in ("UPDATE", "DELETE"):
            refuse(action, table, f"{table}_no_{action.lower()}", "true", f"{table} is append-only")
