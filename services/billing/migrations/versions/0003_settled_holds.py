"""The database knows that a settled hold stays settled."""

from __future__ import annotations

from servicekit.migration.moves import refuse

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """HELD becomes SETTLED, and nothing becomes HELD again."""
    is_reopened = "OLD.settled AND NOT NEW.settled"
    refuse("UPDATE OF settled", "holds", "holds_settled_moves", is_reopened, "holds: illegal move of settled")
