"""Accounts, tokens, the append-only ledger and machine usage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SEQ = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables, and the triggers that keep the ledger append-only."""
    _create_accounts()
    _create_ledger()
    _create_machine_usage()
    for table in ("transactions", "postings"):
        _make_append_only(table)


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("admin", sa.Boolean, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("granted_micros", sa.BigInteger, nullable=False),
        sa.Column("charged_micros", sa.BigInteger, nullable=False),
        sa.Column("held_micros", sa.BigInteger, nullable=False),
        sa.Column("alert_fire_time", sa.BigInteger),
        sa.CheckConstraint("granted_micros >= 0 AND charged_micros >= 0 AND held_micros >= 0", name="accounts_sums"),
    )
    op.create_table(
        "tokens",
        sa.Column("token_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("secret_hash", sa.Text, nullable=False, unique=True),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("revoke_time", sa.BigInteger),
    )


def _create_ledger() -> None:
    op.create_table(
        "holds",
        sa.Column("hold_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("settled", sa.Boolean, nullable=False),
    )
    op.create_table(
        "transactions",
        sa.Column("idempotency_key", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False),
        sa.Column("hold_id", sa.Text, sa.ForeignKey("holds.hold_id")),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("available_micros", sa.BigInteger, nullable=False),
    )
    op.create_index("transactions_hold_kind", "transactions", ["hold_id", "kind"], unique=True)
    op.create_table(
        "postings",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("posting_id", sa.Text, nullable=False, unique=True),
        sa.Column("idempotency_key", sa.Text, sa.ForeignKey("transactions.idempotency_key"), nullable=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False),
        sa.Column("book", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
    )
    op.create_index("postings_account_book_seq", "postings", ["account_id", "book", "seq"])


def _create_machine_usage() -> None:
    op.create_table(
        "machine_usage",
        sa.Column("machine_id", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("gpu_type", sa.Text, nullable=False),
        sa.Column("gpu_count", sa.Integer, nullable=False),
        sa.Column("start_time", sa.BigInteger, nullable=False),
        sa.Column("end_time", sa.BigInteger, nullable=False),
        sa.Column("price_micros_per_hour", sa.BigInteger, nullable=False),
        sa.Column("cost_micros", sa.BigInteger, nullable=False),
        sa.Column("final", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("machine_id", "sequence"),
    )


def _make_append_only(table: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
    )
