"""Adds prices with their periods. Billing fills them from its settings when it starts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.moves import refuse

revision = "0007"
down_revision = "0006"

_FOREVER = 2**63 - 1
_IS_OVERLAP = (
    "EXISTS (SELECT 1 FROM price_periods other WHERE other.gpu_type = NEW.gpu_type AND other.spot = NEW.spot "  # noqa: S608 - constants
    f"AND other.start_time < COALESCE(other.end_time, {_FOREVER}) "
    f"AND other.start_time < COALESCE(NEW.end_time, {_FOREVER}) "
    f"AND NEW.start_time < COALESCE(other.end_time, {_FOREVER}))"
)
_OVERLAPS = "price_periods: periods overlap"


def upgrade() -> None:
    """Creates the table, and the triggers that keep periods apart and what was charged as it was."""
    op.create_table(
        "price_periods",
        sa.Column("period_id", sa.Text, primary_key=True),
        sa.Column("gpu_type", sa.Text, nullable=False),
        sa.Column("spot", sa.Boolean, nullable=False),
        sa.Column("price_micros_per_hour", sa.BigInteger, nullable=False),
        sa.Column("minimum_billed_us", sa.BigInteger, nullable=False),
        sa.Column("billing_increment_us", sa.BigInteger, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("start_time", sa.BigInteger, nullable=False),
        sa.Column("end_time", sa.BigInteger),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.CheckConstraint("end_time IS NULL OR end_time >= start_time", name="price_periods_order"),
        sa.CheckConstraint(
            "price_micros_per_hour >= 0 AND minimum_billed_us >= 0 AND billing_increment_us > 0",
            name="price_periods_amounts",
        ),
    )
    _refuse_overlaps()
    _refuse_changes()


def _refuse_overlaps() -> None:
    if op.get_bind().dialect.name == "sqlite":
        refuse("INSERT", "price_periods", "price_periods_apart", _IS_OVERLAP, _OVERLAPS)
        return
    # A trigger's own condition may hold no query in PostgreSQL.
    op.execute(
        "CREATE FUNCTION refuse_price_overlap() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF {_IS_OVERLAP} THEN RAISE EXCEPTION '{_OVERLAPS}' USING ERRCODE = 'check_violation'; END IF; "
        "RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER price_periods_apart BEFORE INSERT ON price_periods "
        "FOR EACH ROW EXECUTE FUNCTION refuse_price_overlap()"
    )


def _refuse_changes() -> None:
    """A period may end earlier than planned; nothing else of it changes, and it stays."""
    fixed = (
        *("period_id", "gpu_type", "spot", "price_micros_per_hour", "minimum_billed_us", "billing_increment_us"),
        *("source", "start_time", "create_time"),
    )
    is_changed = " OR ".join(f"NEW.{name} <> OLD.{name}" for name in fixed)
    is_longer = "NEW.end_time IS NULL OR (OLD.end_time IS NOT NULL AND NEW.end_time > OLD.end_time)"
    message = "price_periods: a period can only be shortened"
    refuse("UPDATE", "price_periods", "price_periods_moves", f"{is_changed} OR {is_longer}", message)
    refuse("DELETE", "price_periods", "price_periods_stay", "OLD.start_time IS NOT NULL", message)
