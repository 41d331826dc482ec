"""The name of a machine at its provider, whatever the pool is called by then."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns. Existing machines are found by the pool's present name until they are seen."""
    for name in ("resource_name", "resource_id"):
        op.add_column("machines", sa.Column(name, sa.Text, nullable=False, server_default=""))
