"""One ledger: machines' costs beside credit, a hash chain, holds in parts, grants that expire, budgets.

Transactions get numbers without a gap and a digest, so they and their postings are written anew from the old tables, in
their old order. Costs of machines from before become transactions of their own; the use of those machines is not known.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.moves import refuse

revision = "0004"
down_revision = "0003"

_SEQ = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TABLES = ("transactions", "postings")
_INSERT_BATCH = 1000
_LINE_COLUMNS = ("owner", "book", "kind", "amount_micros", "subject")
_MOVE_COLUMNS = (
    "idempotency_key",
    "kind",
    "account_id",
    "hold_id",
    "amount_micros",
    "available_micros",
    "description",
    "reason",
    "create_time",
)


def upgrade() -> None:
    """Writes the old ledger into the new tables."""
    if op.get_bind().dialect.name == "postgresql":
        # A billing service of the old release may still write; it must not, between our reading and our dropping.
        op.execute("LOCK TABLE accounts, tokens, holds, transactions, postings, machine_usage IN ACCESS EXCLUSIVE MODE")
    old = _take_old_rows()
    for table in ("postings", "transactions", "holds", "tokens", "accounts"):
        op.drop_table(table)
    _create_accounts()
    _create_tables()
    _insert("accounts", old["accounts"])
    _insert("tokens", old["tokens"])
    _copy_holds(old)
    _copy_ledger(old)
    _create_guards()


def _take_old_rows() -> dict[str, list[dict[str, Any]]]:
    queries = {
        "accounts": "SELECT account_id, name, admin, create_time, alert_fire_time FROM accounts",
        "tokens": "SELECT * FROM tokens",
        "holds": "SELECT * FROM holds",
        "postings": "SELECT * FROM postings ORDER BY seq",
        # SQLite and PostgreSQL both keep a row's first posting in the order of the movements.
        "transactions": "SELECT t.*, (SELECT MIN(p.seq) FROM postings p WHERE p.idempotency_key = t.idempotency_key)"
        " AS first_posting FROM transactions t ORDER BY t.create_time, first_posting",
        "machine_usage": "SELECT * FROM machine_usage ORDER BY end_time, machine_id, sequence",
    }
    bind = op.get_bind()
    return {name: [dict(row) for row in bind.execute(sa.text(query)).mappings()] for name, query in queries.items()}


def _create_accounts() -> None:
    """The same as before, without the sums. SQLite cannot drop columns that a constraint names."""
    op.create_table(
        "accounts",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("admin", sa.Boolean, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("alert_fire_time", sa.BigInteger),
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


def _create_tables() -> None:
    op.create_table(
        "holds",
        sa.Column("hold_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("charged_micros", sa.BigInteger, nullable=False),
        sa.Column("refunded_micros", sa.BigInteger, nullable=False),
        sa.Column("billed_us", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("expire_time", sa.BigInteger),
        sa.Column("prices", sa.Text, nullable=False),
        *[sa.Column(name, sa.Text, nullable=False, index=True) for name in ("subject", "user_id", "queue")],
        *[sa.Column(name, sa.Text, nullable=False) for name in ("problem", "gpu_type")],
        sa.CheckConstraint("refunded_micros >= 0 AND refunded_micros <= charged_micros", name="holds_refunds"),
    )
    op.create_index("holds_open", "holds", ["expire_time"], **_where("state = 'open'"))
    op.create_table(
        "transactions",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("idempotency_key", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id")),
        sa.Column("hold_id", sa.Text, sa.ForeignKey("holds.hold_id"), index=True),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("available_micros", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
    )
    once = _where("kind IN ('hold', 'settlement', 'hold_expiry')")
    op.create_index("transactions_hold_once", "transactions", ["hold_id", "kind"], unique=True, **once)
    op.create_index("transactions_account_time", "transactions", ["account_id", "create_time"])
    op.create_index("transactions_time", "transactions", ["create_time", "seq"])
    op.create_table(
        "postings",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("transaction_seq", sa.BigInteger, sa.ForeignKey("transactions.seq"), nullable=False, index=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("book", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
    )
    op.create_index("postings_owner_book_seq", "postings", ["owner", "book", "seq"])
    op.create_index("postings_subject", "postings", ["subject"], **_where("subject <> ''"))
    op.create_table(
        "balances",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("book", sa.Text, primary_key=True),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "chain_head",
        sa.Column("head_id", sa.Integer, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "checkpoints",
        sa.Column("transaction_seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("book", sa.Text, primary_key=True),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "grants",
        sa.Column("grant_id", sa.BigInteger, sa.ForeignKey("transactions.seq"), primary_key=True, autoincrement=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, index=True),
        sa.Column("amount_micros", sa.BigInteger, nullable=False),
        sa.Column("remaining_micros", sa.BigInteger, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("expire_time", sa.BigInteger),
        sa.Column("description", sa.Text, nullable=False),
        sa.CheckConstraint("remaining_micros >= 0 AND remaining_micros <= amount_micros", name="grants_remaining"),
    )
    op.create_index("grants_open", "grants", ["expire_time"], **_where("remaining_micros > 0"))
    op.create_index("ix_machine_usage_end_time", "machine_usage", ["end_time"])
    op.create_table(
        "budgets",
        sa.Column("budget_id", sa.Text, primary_key=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("period", sa.Text, nullable=False),
        sa.Column("limit_micros", sa.BigInteger, nullable=False),
        sa.Column("hard", sa.Boolean, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("scope", "subject", "period"),
    )


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _copy_holds(old: dict[str, list[dict[str, Any]]]) -> None:
    charged = {row["hold_id"]: row["amount_micros"] for row in old["transactions"] if row["kind"] == "settlement"}
    empty = {"refunded_micros": 0, "billed_us": 0, "prices": "{}"} | dict.fromkeys(
        ("subject", "user_id", "queue", "problem", "gpu_type"), ""
    )
    rows = [
        {
            "hold_id": hold["hold_id"],
            "account_id": hold["account_id"],
            "amount_micros": hold["amount_micros"],
            "charged_micros": charged.get(hold["hold_id"], 0),
            "state": "settled" if hold["settled"] else "open",
            **empty,
        }
        for hold in old["holds"]
    ]
    _insert("holds", rows)


def _copy_ledger(old: dict[str, list[dict[str, Any]]]) -> None:
    by_key: dict[str, list[dict[str, Any]]] = {}
    for line in old["postings"]:
        by_key.setdefault(line["idempotency_key"], []).append(line)
    moves = [
        row
        | {
            "reason": "",
            "lines": [
                (line["account_id"], line["book"], line["kind"], line["amount_micros"], "")
                for line in by_key.get(row["idempotency_key"], [])
            ],
        }
        for row in old["transactions"]
    ]
    moves += [_usage(row) for row in old["machine_usage"] if row["cost_micros"]]
    moves.sort(key=lambda move: move["create_time"])
    digest, time = "0" * 64, 0
    transactions: list[dict[str, Any]] = []
    postings: list[dict[str, Any]] = []
    sums: Counter[tuple[str, str]] = Counter()
    for seq, move in enumerate(moves, 1):
        digest, time = _digest(digest, seq, move), move["create_time"]
        transactions.append({name: move[name] for name in _MOVE_COLUMNS} | {"seq": seq, "digest": digest})
        for line in move["lines"]:
            postings.append({"transaction_seq": seq, **dict(zip(_LINE_COLUMNS, line, strict=True))})
            sums[str(line[0]), str(line[1])] += int(line[3])
    grants = [_grant(seq, move) for seq, move in enumerate(moves, 1) if move["kind"] == "grant"]
    _insert("transactions", transactions)
    _insert("postings", postings)
    _insert("balances", [{"owner": o, "book": b, "amount_micros": amount} for (o, b), amount in sums.items()])
    _insert("chain_head", [{"head_id": 1, "seq": len(moves), "digest": digest, "time": time}])
    _insert("grants", _with_remaining(grants, sums))


def _grant(seq: int, move: dict[str, Any]) -> dict[str, Any]:
    names = ("account_id", "amount_micros", "create_time", "description")
    return {"grant_id": seq, **{name: move[name] for name in names}}


def _usage(row: dict[str, Any]) -> dict[str, Any]:
    cost, machine = row["cost_micros"], row["machine_id"]
    return {
        "idempotency_key": f"machine:{machine}:{row['sequence']}",
        "kind": "machine_usage",
        "account_id": None,
        "hold_id": None,
        "amount_micros": cost,
        "available_micros": 0,
        "description": f"{row['gpu_count']} x {row['gpu_type']} at {row['provider']}",
        "reason": "",
        "create_time": row["end_time"],
        "lines": [
            ("operator", "cloud_credit", "cost", -cost, machine),
            ("operator", "unattributed", "cost", cost, machine),
        ],
    }


def _digest(previous: str, seq: int, move: dict[str, Any]) -> str:
    said = [
        previous,
        seq,
        move["idempotency_key"],
        move["kind"],
        move["account_id"],
        move["hold_id"],
        move["amount_micros"],
        move["available_micros"],
        move["description"],
        move["reason"],
        move["create_time"],
        [list(line) for line in move["lines"]],
    ]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def _with_remaining(grants: list[dict[str, Any]], sums: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    """The oldest grants were spent first."""
    spent = {account: sums[account, "charged"] for account in {grant["account_id"] for grant in grants}}
    for grant in grants:
        part = min(spent[grant["account_id"]], grant["amount_micros"])
        spent[grant["account_id"]] -= part
        grant["remaining_micros"] = grant["amount_micros"] - part
    return grants


def _insert(table: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    names = list(rows[0])
    statement = sa.text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)})")  # noqa: S608 - names of ours
    for start in range(0, len(rows), _INSERT_BATCH):
        op.get_bind().execute(statement, rows[start : start + _INSERT_BATCH])


def _create_guards() -> None:
    """The database refuses a change of the past, an end that is undone, and credit that falls below zero."""
    for table in _TABLES:
        _make_append_only(table)
    undone = "OLD.state <> 'open' AND NEW.state <> OLD.state"
    refuse("UPDATE OF state", "holds", "holds_state_moves", undone, "holds: illegal move of state")
    below = "NEW.amount_micros < 0 AND NEW.amount_micros < OLD.amount_micros AND NEW.book IN ('available', 'held')"
    refuse("UPDATE", "balances", "balances_not_below_zero", below, "balances: credit below zero")
    over = "NEW.charged_micros > NEW.amount_micros AND NEW.charged_micros > OLD.charged_micros"
    refuse("UPDATE", "holds", "holds_not_overcharged", over, "holds: charge above the hold")


def _make_append_only(table: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
        return
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
    )
