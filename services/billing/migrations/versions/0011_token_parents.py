"""Tokens that are made by tokens end with them; those of sign-ins are the exception."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import with_default

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Adds the columns; who made a token from before is not known."""
    for column in (sa.Column("parent_id", sa.Text), *with_default(sa.Boolean, is_sign_in=sa.false())):
        op.add_column("tokens", column)
    op.create_index("ix_tokens_parent_id", "tokens", ["parent_id"])
