"""Accounts, users and their tokens and keys; the append-only ledger and machine usage; prices; alerts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import index_rows, keys, optional, required, with_default
from servicekit.db.migration.moves import refuse

revision = "0010"
down_revision = None

_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_FOREVER = 2**63 - 1
_IS_OVERLAP = (
    "EXISTS (SELECT 1 FROM price_periods other WHERE other.gpu_type = NEW.gpu_type AND other.spot = NEW.spot "  # noqa: S608 - constants
    f"AND other.start_time < COALESCE(other.end_time, {_FOREVER}) "
    f"AND other.start_time < COALESCE(NEW.end_time, {_FOREVER}) "
    f"AND NEW.start_time < COALESCE(other.end_time, {_FOREVER}))"
)
_OVERLAPS = "price_periods: periods overlap"


def upgrade() -> None:
    """Creates the tables, the head of the ledger's chain, and the triggers that keep the past as it was."""
    _create_users()
    _create_teams()
    _create_keys()
    _create_ledger()
    _create_balances()
    _create_machine_usage()
    _create_prices()
    _create_alerts()
    _create_guards()


def _create_users() -> None:
    op.create_table(
        "accounts",
        *keys(sa.Text, "account_id"),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        *required(sa.BigInteger, "create_time"),
    )
    op.create_table(
        "users",
        *keys(sa.Text, "user_id"),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        *required(sa.Text, "email", "role"),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, unique=True),
        *optional(sa.Text, "issuer", "subject"),
        *required(sa.BigInteger, "create_time"),
        *optional(sa.BigInteger, "disable_time"),
        *optional(sa.Text, "github_name"),
        sa.CheckConstraint("role IN ('user', 'operator', 'admin', 'service')", name="users_role"),
        sa.UniqueConstraint("issuer", "subject", name="users_outside_identity"),
    )
    op.create_index("users_github_name", "users", ["github_name"], unique=True)
    op.create_table(
        "tokens",
        *keys(sa.Text, "token_id"),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        *required(sa.Text, "name"),
        sa.Column("secret_hash", sa.Text, nullable=False, unique=True),
        *required(sa.Text, "prefix"),
        *required(sa.BigInteger, "create_time"),
        *optional(sa.BigInteger, "revoke_time"),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id", name="tokens_user"), nullable=False, index=True),
        *with_default(sa.Text, scopes=""),
        *optional(sa.BigInteger, "expire_time"),
    )


def _create_teams() -> None:
    op.create_table(
        "teams",
        *keys(sa.Text, "team_id"),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, unique=True),
        *required(sa.BigInteger, "create_time"),
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", sa.Text, sa.ForeignKey("teams.team_id"), primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True, index=True),
        *required(sa.Text, "level", "origin"),
        sa.CheckConstraint("level IN ('member', 'manager')", name="team_members_level"),
        sa.CheckConstraint("origin IN ('hand', 'sign_in')", name="team_members_origin"),
    )


def _create_keys() -> None:
    """A key belongs to one user, as does a name on GitHub."""
    op.create_table(
        "ssh_keys",
        *keys(sa.Text, "key_id"),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False, index=True),
        *required(sa.Text, "name", "line"),
        sa.Column("fingerprint", sa.Text, nullable=False, unique=True),
        *required(sa.BigInteger, "create_time"),
    )
    op.create_table(
        "github_keys",
        *keys(sa.Text, "github_name"),
        *required(sa.Text, "body", "etag"),
        sa.Column("check_time", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "github_claims",
        *keys(sa.Text, "challenge_hash"),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        *required(sa.Text, "github_name"),
        sa.Column("expire_time", sa.BigInteger, nullable=False, index=True),
    )


def _create_ledger() -> None:
    op.create_table(
        "holds",
        *keys(sa.Text, "hold_id"),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        *required(sa.BigInteger, "amount_micros", "charged_micros", "refunded_micros", "billed_us"),
        *required(sa.Text, "state"),
        *optional(sa.BigInteger, "expire_time"),
        *required(sa.Text, "prices"),
        *[sa.Column(name, sa.Text, nullable=False, index=True) for name in ("subject", "user_id", "queue")],
        *required(sa.Text, "problem", "gpu_type"),
        sa.CheckConstraint("refunded_micros >= 0 AND refunded_micros <= charged_micros", name="holds_refunds"),
    )
    index_rows("holds_open", "holds", ["expire_time"], "state = 'open'")
    op.create_table(
        "transactions",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("idempotency_key", sa.Text, nullable=False, unique=True),
        *required(sa.Text, "kind"),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id")),
        sa.Column("hold_id", sa.Text, sa.ForeignKey("holds.hold_id"), index=True),
        *required(sa.BigInteger, "amount_micros"),
        *required(sa.Text, "description", "reason"),
        *required(sa.BigInteger, "create_time", "available_micros"),
        *required(sa.Text, "digest"),
    )
    once = "kind IN ('hold', 'settlement', 'hold_expiry')"
    index_rows("transactions_hold_once", "transactions", ["hold_id", "kind"], once, unique=True)
    op.create_index("transactions_account_time", "transactions", ["account_id", "create_time"])
    op.create_index("transactions_time", "transactions", ["create_time", "seq"])
    op.create_table(
        "postings",
        sa.Column("seq", _COUNTER, primary_key=True, autoincrement=True),
        sa.Column("transaction_seq", sa.BigInteger, sa.ForeignKey("transactions.seq"), nullable=False, index=True),
        *required(sa.Text, "owner", "book", "kind"),
        *required(sa.BigInteger, "amount_micros"),
        *required(sa.Text, "subject"),
    )
    op.create_index("postings_owner_book_seq", "postings", ["owner", "book", "seq"])
    index_rows("postings_subject", "postings", ["subject"], "subject <> ''")
    head = op.create_table(
        "chain_head",
        *keys(sa.Integer, "head_id"),
        *required(sa.BigInteger, "seq"),
        *required(sa.Text, "digest"),
        *required(sa.BigInteger, "time"),
    )
    op.bulk_insert(head, [{"head_id": 1, "seq": 0, "digest": "0" * 64, "time": 0}])


def _create_balances() -> None:
    op.create_table("balances", *keys(sa.Text, "owner", "book"), *required(sa.BigInteger, "amount_micros"))
    op.create_table(
        "checkpoints",
        *keys(sa.BigInteger, "transaction_seq"),
        *keys(sa.Text, "owner", "book"),
        *required(sa.BigInteger, "amount_micros"),
    )
    op.create_table(
        "grants",
        sa.Column("grant_id", sa.BigInteger, sa.ForeignKey("transactions.seq"), primary_key=True, autoincrement=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        *required(sa.BigInteger, "amount_micros", "remaining_micros", "create_time"),
        *optional(sa.BigInteger, "expire_time"),
        *required(sa.Text, "description"),
        sa.CheckConstraint("remaining_micros >= 0 AND remaining_micros <= amount_micros", name="grants_remaining"),
    )
    index_rows("grants_open", "grants", ["expire_time"], "remaining_micros > 0")
    op.create_table(
        "budgets",
        *keys(sa.Text, "budget_id"),
        *required(sa.Text, "scope", "subject", "period"),
        *required(sa.BigInteger, "limit_micros"),
        *required(sa.Boolean, "hard"),
        *required(sa.BigInteger, "create_time"),
        sa.UniqueConstraint("scope", "subject", "period"),
    )


def _create_machine_usage() -> None:
    op.create_table(
        "machine_usage",
        *keys(sa.Text, "machine_id"),
        *keys(sa.BigInteger, "sequence"),
        *required(sa.Text, "provider", "gpu_type"),
        *required(sa.Integer, "gpu_count"),
        *required(sa.BigInteger, "start_time"),
        sa.Column("end_time", sa.BigInteger, nullable=False, index=True),
        *required(sa.BigInteger, "price_micros_per_hour", "cost_micros"),
        *required(sa.Boolean, "final"),
        *optional(sa.BigInteger, "machine_start_time"),
        *with_default(sa.BigInteger, minimum_billed_us="0", billing_increment_us="1"),
    )


def _create_prices() -> None:
    """Creates the table, which billing fills from its settings when it starts."""
    is_positive = "price_micros_per_hour >= 0 AND minimum_billed_us >= 0 AND billing_increment_us > 0"
    op.create_table(
        "price_periods",
        *keys(sa.Text, "period_id"),
        *required(sa.Text, "gpu_type"),
        *required(sa.Boolean, "spot"),
        *required(sa.BigInteger, "price_micros_per_hour", "minimum_billed_us", "billing_increment_us"),
        *required(sa.Text, "source"),
        *required(sa.BigInteger, "start_time"),
        *optional(sa.BigInteger, "end_time"),
        *required(sa.BigInteger, "create_time"),
        sa.CheckConstraint("end_time IS NULL OR end_time >= start_time", name="price_periods_order"),
        sa.CheckConstraint(is_positive, name="price_periods_amounts"),
    )


def _create_alerts() -> None:
    op.create_table(
        "alert_states",
        *required(sa.Text, "rule", "labels", "reading", "source"),
        sa.Column("account_id", sa.Text, index=True),
        *required(sa.Text, "alert_id", "severity", "summary", "phase"),
        *required(sa.BigInteger, "since"),
        *required(sa.Float, "value"),
        *required(sa.BigInteger, "reading_time", "valid_for_us"),
        *required(sa.Boolean, "no_data"),
        *required(sa.BigInteger, "version"),
        sa.PrimaryKeyConstraint("source", "rule", "labels"),
        sa.CheckConstraint("phase IN ('inactive', 'pending', 'firing')", name="alert_states_phase"),
    )
    op.create_table(
        "alert_transitions",
        sa.Column("seq", _COUNTER, primary_key=True, autoincrement=True),
        sa.Column("transition_id", sa.Text, nullable=False, unique=True),
        sa.Column("alert_id", sa.Text, nullable=False, index=True),
        *required(sa.Text, "rule", "severity", "labels"),
        *optional(sa.Text, "account_id"),
        *required(sa.Text, "event", "summary"),
        *required(sa.Float, "value"),
        sa.Column("time", sa.BigInteger, nullable=False, index=True),
    )
    op.create_index("alert_transitions_account_seq", "alert_transitions", ["account_id", "seq"])
    op.create_table(
        "alert_deliveries",
        sa.Column("transition_seq", sa.BigInteger, sa.ForeignKey("alert_transitions.seq"), primary_key=True),
        *keys(sa.Text, "channel"),
        *required(sa.Text, "alert_id", "outcome"),
        *required(sa.Integer, "attempts"),
        *required(sa.BigInteger, "time"),
        *required(sa.Text, "failure"),
        sa.CheckConstraint("outcome IN ('waiting', 'delivered', 'failed')", name="alert_deliveries_outcome"),
    )
    op.create_index("alert_deliveries_due", "alert_deliveries", ["channel", "outcome", "time"])


def _create_guards() -> None:
    """The database refuses a change of the past, an end that is undone, and credit that falls below zero."""
    _make_append_only("transactions", "postings")
    for table in ("checkpoints", "machine_usage"):
        for action in ("UPDATE", "DELETE"):
            refuse(action, table, f"{table}_no_{action.lower()}", "true", f"{table} is append-only")
    undone = "OLD.state <> 'open' AND NEW.state <> OLD.state"
    refuse("UPDATE OF state", "holds", "holds_state_moves", undone, "holds: illegal move of state")
    below = "NEW.amount_micros < 0 AND NEW.amount_micros < OLD.amount_micros AND NEW.book IN ('available', 'held')"
    refuse("UPDATE", "balances", "balances_not_below_zero", below, "balances: credit below zero")
    over = "NEW.charged_micros > NEW.amount_micros AND NEW.charged_micros > OLD.charged_micros"
    refuse("UPDATE", "holds", "holds_not_overcharged", over, "holds: charge above the hold")
    _refuse_overlapping_prices()
    _refuse_changed_prices()


def _make_append_only(*tables: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table in tables:
            for action in ("UPDATE", "DELETE"):
                op.execute(
                    f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
        return
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in tables:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
        )


def _refuse_overlapping_prices() -> None:
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


def _refuse_changed_prices() -> None:
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
