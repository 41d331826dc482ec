"""Makes the database refuse to reopen a settled hold."""

from __future__ import annotations

from servicekit.db.migration.moves import refuse

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """A hold may become settled; a settled one may not become open again."""
    is_reopened = "OLD.settled AND NOT NEW.settled"
    refuse("UPDATE OF settled", "holds", "holds_settled_moves", is_reopened, "holds: illegal move of settled")
