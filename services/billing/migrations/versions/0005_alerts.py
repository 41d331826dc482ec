"""Gives alerts tables of their own; the alert that an account had becomes the first of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_SEQ = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """An alert that is on stays on, under the name of the built-in rule at 80 %, and is not announced again."""
    _create_states()
    _create_history()
    op.execute(
        "INSERT INTO alert_states (rule, labels, reading, source, account_id, alert_id, severity, summary, phase, "
        "since, value, reading_time, valid_for_us, no_data, version) "
        "SELECT 'account-credit-spent-80', '{\"account\":\"' || account_id || '\"}', 'account.credit_spent_share', "
        "'billing', account_id, 'alert_of_' || account_id, 'WARNING', name || ' has spent 80% of its credit.', "
        "'firing', alert_fire_time, 0.8, alert_fire_time, 3600000000, false, 1 "
        "FROM accounts WHERE alert_fire_time IS NOT NULL"
    )
    op.drop_column("accounts", "alert_fire_time")


def _create_states() -> None:
    op.create_table(
        "alert_states",
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("reading", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, index=True),
        sa.Column("alert_id", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("reading_time", sa.BigInteger, nullable=False),
        sa.Column("valid_for_us", sa.BigInteger, nullable=False),
        sa.Column("no_data", sa.Boolean, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("source", "rule", "labels"),
        sa.CheckConstraint("phase IN ('inactive', 'pending', 'firing')", name="alert_states_phase"),
    )


def _create_history() -> None:
    op.create_table(
        "alert_transitions",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("transition_id", sa.Text, nullable=False, unique=True),
        sa.Column("alert_id", sa.Text, nullable=False, index=True),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False, index=True),
    )
    op.create_index("alert_transitions_account_seq", "alert_transitions", ["account_id", "seq"])
    op.create_table(
        "alert_deliveries",
        sa.Column("transition_seq", sa.BigInteger, sa.ForeignKey("alert_transitions.seq"), nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("alert_id", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("failure", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("transition_seq", "channel"),
        sa.CheckConstraint("outcome IN ('waiting', 'delivered', 'failed')", name="alert_deliveries_outcome"),
    )
    op.create_index("alert_deliveries_due", "alert_deliveries", ["channel", "outcome", "time"])
