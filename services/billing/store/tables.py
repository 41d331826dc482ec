"""Billing's tables. Amounts are BIGINT micro-dollars."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from servicekit.db.database import Instant

metadata = MetaData()

accounts = Table(
    "accounts",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("admin", Boolean, nullable=False),
    Column("create_time", Instant, nullable=False),
    # Running sums of the account's postings, moved in the transaction that makes the postings.
    Column("granted_micros", BigInteger, nullable=False),
    Column("charged_micros", BigInteger, nullable=False),
    Column("held_micros", BigInteger, nullable=False),
    Column("alert_fire_time", Instant),
)

tokens = Table(
    "tokens",
    metadata,
    Column("token_id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("prefix", Text, nullable=False),
    Column("create_time", Instant, nullable=False),
    Column("revoke_time", Instant),
)

holds = Table(
    "holds",
    metadata,
    Column("hold_id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False),
    Column("amount_micros", BigInteger, nullable=False),
    Column("settled", Boolean, nullable=False),
)

transactions = Table(
    "transactions",
    metadata,
    Column("idempotency_key", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False),
    Column("hold_id", Text, ForeignKey("holds.hold_id")),
    Column("amount_micros", BigInteger, nullable=False),
    Column("description", Text, nullable=False),
    Column("create_time", Instant, nullable=False),
    # The answer, so that a repeated key gets the same one.
    Column("available_micros", BigInteger, nullable=False),
    # One hold and one settlement for each hold, even if the code has a bug.
    Index("transactions_hold_kind", "hold_id", "kind", unique=True),
)

postings = Table(
    "postings",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("posting_id", Text, nullable=False, unique=True),
    Column("idempotency_key", Text, ForeignKey("transactions.idempotency_key"), nullable=False),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False),
    Column("book", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount_micros", BigInteger, nullable=False),
    Index("postings_account_book_seq", "account_id", "book", "seq"),
)

machine_usage = Table(
    "machine_usage",
    metadata,
    Column("machine_id", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("provider", Text, nullable=False),
    Column("gpu_type", Text, nullable=False),
    Column("gpu_count", Integer, nullable=False),
    Column("start_time", Instant, nullable=False),
    Column("end_time", Instant, nullable=False),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    Column("final", Boolean, nullable=False),
    Column("machine_start_time", Instant),
    Column("minimum_billed_us", BigInteger, nullable=False),
    Column("billing_increment_us", BigInteger, nullable=False),
    PrimaryKeyConstraint("machine_id", "sequence"),
)
