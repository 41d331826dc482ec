"""Billing's tables. Amounts are BIGINT micro-dollars."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from servicekit.db.database import Instant

metadata = MetaData()

accounts = Table(
    "accounts",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("create_time", Instant, nullable=False),
)

users = Table(
    "users",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("email", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, unique=True),
    # Both null for a user who only has tokens.
    Column("issuer", Text),
    Column("subject", Text),
    Column("create_time", Instant, nullable=False),
    Column("disable_time", Instant),
    # In lower case; null: not known.
    Column("github_name", Text),
    Column("notify", Text, nullable=False, server_default="never"),
    Column("profile", Text, nullable=False, server_default="public"),
    UniqueConstraint("issuer", "subject", name="users_outside_identity"),
    Index("users_github_name", "github_name", unique=True),
)

teams = Table(
    "teams",
    metadata,
    Column("team_id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, unique=True),
    Column("create_time", Instant, nullable=False),
)

team_members = Table(
    "team_members",
    metadata,
    Column("team_id", Text, ForeignKey("teams.team_id"), nullable=False),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False, index=True),
    Column("level", Text, nullable=False),
    Column("origin", Text, nullable=False),
    PrimaryKeyConstraint("team_id", "user_id"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("token_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False, index=True),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("prefix", Text, nullable=False),
    # Names of scopes with blanks between them; empty: all that the user's role allows.
    Column("scopes", Text, nullable=False, server_default=""),
    Column("create_time", Instant, nullable=False),
    Column("expire_time", Instant),
    Column("revoke_time", Instant),
    # The token that made it; null: none, or one that people got by signing in.
    Column("parent_id", Text, index=True),
    Column("is_sign_in", Boolean, nullable=False, server_default=false()),
)

tickets = Table(
    "tickets",
    metadata,
    Column("secret_hash", Text, primary_key=True),
    # The token that asked for it.
    Column("token_id", Text, ForeignKey("tokens.token_id"), nullable=False),
    Column("address", Text, nullable=False),
    Column("expire_time", Instant, nullable=False, index=True),
    Column("use_time", Instant),
)

ssh_keys = Table(
    "ssh_keys",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    # Type and bytes, without the comment.
    Column("line", Text, nullable=False),
    Column("fingerprint", Text, nullable=False, unique=True),
    Column("create_time", Instant, nullable=False),
)

github_keys = Table(
    "github_keys",
    metadata,
    Column("github_name", Text, primary_key=True),
    # As it was read.
    Column("body", Text, nullable=False),
    Column("etag", Text, nullable=False),
    # When GitHub last said that this is so.
    Column("check_time", Instant, nullable=False, index=True),
)

github_claims = Table(
    "github_claims",
    metadata,
    # SHA-256 of the text that is to be signed, in hexadecimal.
    Column("challenge_hash", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("github_name", Text, nullable=False),
    Column("expire_time", Instant, nullable=False, index=True),
)

holds = Table(
    "holds",
    metadata,
    Column("hold_id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, index=True),
    Column("amount_micros", BigInteger, nullable=False),
    Column("charged_micros", BigInteger, nullable=False),
    Column("refunded_micros", BigInteger, nullable=False),
    # The time that was charged by parts.
    Column("billed_us", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("expire_time", Instant),
    # Micro-dollars an hour by GPU type, as JSON.
    Column("prices", Text, nullable=False),
    Column("subject", Text, nullable=False, index=True),
    Column("user_id", Text, nullable=False, index=True),
    Column("queue", Text, nullable=False, index=True),
    Column("problem", Text, nullable=False),
    Column("gpu_type", Text, nullable=False),
)

end_notices = Table(
    "end_notices",
    metadata,
    # A hold is settled for the last time once, so there is one mail at most.
    Column("hold_id", Text, ForeignKey("holds.hold_id"), primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("subject", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("create_time", Instant, nullable=False, index=True),
    Column("outcome", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    # As in alert_deliveries.
    Column("time", Instant, nullable=False),
    Column("failure", Text, nullable=False),
    Index("end_notices_user_time", "user_id", "create_time"),
    Index("end_notices_due", "outcome", "time"),
)

grants = Table(
    "grants",
    metadata,
    # The transaction that made it.
    Column("grant_id", BigInteger, ForeignKey("transactions.seq"), primary_key=True, autoincrement=False),
    Column("account_id", Text, ForeignKey("accounts.account_id"), nullable=False, index=True),
    Column("amount_micros", BigInteger, nullable=False),
    Column("remaining_micros", BigInteger, nullable=False),
    Column("create_time", Instant, nullable=False),
    Column("expire_time", Instant),
    Column("description", Text, nullable=False),
    Index(
        "grants_open",
        "expire_time",
        sqlite_where=text("remaining_micros > 0"),
        postgresql_where=text("remaining_micros > 0"),
    ),
)

transactions = Table(
    "transactions",
    metadata,
    # Without a gap and in the order of commits: chain_head is locked while one is written.
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("idempotency_key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    # Unset for the operator's own.
    Column("account_id", Text, ForeignKey("accounts.account_id")),
    Column("hold_id", Text, ForeignKey("holds.hold_id"), index=True),
    Column("amount_micros", BigInteger, nullable=False),
    Column("description", Text, nullable=False),
    # Why a charge is less than the time that was used; empty if it is not.
    Column("reason", Text, nullable=False),
    Column("create_time", Instant, nullable=False),
    # The answer, so that a repeated key gets the same one.
    Column("available_micros", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    # One hold and one settlement for each hold, even if the code has a bug.
    Index(
        "transactions_hold_once",
        "hold_id",
        "kind",
        unique=True,
        sqlite_where=text("kind IN ('hold', 'settlement', 'hold_expiry')"),
        postgresql_where=text("kind IN ('hold', 'settlement', 'hold_expiry')"),
    ),
    Index("transactions_account_time", "account_id", "create_time"),
    Index("transactions_time", "create_time", "seq"),
)

postings = Table(
    "postings",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("transaction_seq", BigInteger, ForeignKey("transactions.seq"), nullable=False, index=True),
    # An account, or "operator".
    Column("owner", Text, nullable=False),
    Column("book", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount_micros", BigInteger, nullable=False),
    Column("subject", Text, nullable=False),
    Index("postings_owner_book_seq", "owner", "book", "seq"),
    Index("postings_subject", "subject", sqlite_where=text("subject <> ''"), postgresql_where=text("subject <> ''")),
)

balances = Table(
    "balances",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("book", Text, primary_key=True),
    # The sum of the book's postings, moved in the transaction that makes them.
    Column("amount_micros", BigInteger, nullable=False),
)

chain_head = Table(
    "chain_head",
    metadata,
    Column("head_id", Integer, primary_key=True),
    # The last transaction.
    Column("seq", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    Column("time", Instant, nullable=False),
)
"""One row. Its lock gives transactions their order."""

checkpoints = Table(
    "checkpoints",
    metadata,
    # The balance after this transaction.
    Column("transaction_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", Text, primary_key=True),
    Column("book", Text, primary_key=True),
    Column("amount_micros", BigInteger, nullable=False),
)

budgets = Table(
    "budgets",
    metadata,
    Column("budget_id", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("period", Text, nullable=False),
    Column("limit_micros", BigInteger, nullable=False),
    Column("hard", Boolean, nullable=False),
    Column("create_time", Instant, nullable=False),
    UniqueConstraint("scope", "subject", "period"),
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
    Column("end_time", Instant, nullable=False, index=True),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    Column("final", Boolean, nullable=False),
    Column("machine_start_time", Instant),
    Column("minimum_billed_us", BigInteger, nullable=False),
    Column("billing_increment_us", BigInteger, nullable=False),
    PrimaryKeyConstraint("machine_id", "sequence"),
)

price_periods = Table(
    "price_periods",
    metadata,
    Column("period_id", Text, primary_key=True),
    Column("gpu_type", Text, nullable=False),
    Column("spot", Boolean, nullable=False),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("minimum_billed_us", BigInteger, nullable=False),
    Column("billing_increment_us", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("start_time", Instant, nullable=False),
    Column("end_time", Instant),
    Column("create_time", Instant, nullable=False),
)

alert_states = Table(
    "alert_states",
    metadata,
    Column("rule", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("reading", Text, nullable=False),
    Column("source", Text, nullable=False),
    # The account of the labels, so that its owner finds it.
    Column("account_id", Text, index=True),
    Column("alert_id", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("value", Float, nullable=False),
    Column("reading_time", Instant, nullable=False),
    Column("valid_for_us", BigInteger, nullable=False),
    Column("no_data", Boolean, nullable=False),
    # Counts the transitions: the writer of the next one must have seen the last.
    Column("version", BigInteger, nullable=False),
    PrimaryKeyConstraint("source", "rule", "labels"),
)

alert_transitions = Table(
    "alert_transitions",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("transition_id", Text, nullable=False, unique=True),
    Column("alert_id", Text, nullable=False, index=True),
    Column("rule", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("account_id", Text),
    Column("event", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("value", Float, nullable=False),
    Column("time", Instant, nullable=False, index=True),
    Index("alert_transitions_account_seq", "account_id", "seq"),
)

alert_deliveries = Table(
    "alert_deliveries",
    metadata,
    Column("transition_seq", BigInteger, ForeignKey("alert_transitions.seq"), nullable=False),
    Column("channel", Text, nullable=False),
    Column("alert_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    # The next try, or the end of the try under way; then the time of the outcome.
    Column("time", Instant, nullable=False),
    Column("failure", Text, nullable=False),
    PrimaryKeyConstraint("transition_seq", "channel"),
    Index("alert_deliveries_due", "channel", "outcome", "time"),
)
