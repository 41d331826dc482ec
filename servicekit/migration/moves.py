"""Triggers by which the database itself refuses a row whose state is unknown, or that makes an illegal move.

The code has its own table of moves and asks it first; this is for the day on which the code is wrong. A migration
freezes the table as it was then, so that a change of the code's table needs a new migration; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import op

if TYPE_CHECKING:
    from collections.abc import Mapping


def allow_moves(table: str, moves: Mapping[str, tuple[str, ...]], column: str = "state") -> None:
    """Let `column` of a table hold the keys of `moves` alone, and change from each only to those that it names."""
    unknown = f"NEW.{column} NOT IN ({_list(moves)})"
    legal = " OR ".join(
        f"(OLD.{column} = '{old}' AND NEW.{column} IN ({_list(new)}))" for old, new in moves.items() if new
    )
    refuse("INSERT", table, f"{table}_{column}_known", unknown, f"{table}: unknown {column}")
    refuse(
        f"UPDATE OF {column}",
        table,
        f"{table}_{column}_moves",
        f"NEW.{column} <> OLD.{column} AND NOT ({legal})",
        f"{table}: illegal move of {column}",
    )


def refuse(action: str, table: str, name: str, condition: str, message: str) -> None:
    """A trigger that ends a statement with `message` if `condition` holds for a row, which may name NEW and OLD."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {action} ON {table} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {action} ON {table} FOR EACH ROW WHEN ({condition}) "
        f"EXECUTE FUNCTION refuse_row('{message}')"
    )


def _list(states: Mapping[str, object] | tuple[str, ...]) -> str:
    return ", ".join(f"'{state}'" for state in states)
