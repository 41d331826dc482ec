"""Triggers that make the database refuse a row with an unknown state or an illegal move.

The code checks its own table of moves first; the triggers catch its bugs. A migration freezes the table as it was then,
so a change of the code's table needs a new migration; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping

from alembic import op


def allow_moves(table: str, moves: Mapping[str, tuple[str, ...]], column: str = "state") -> None:
    """Allows `column` of a table only the keys of `moves`, and from each only a change to the states that it lists."""
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
    """Creates a trigger that fails a statement with `message` if `condition` holds for a row (NEW and OLD)."""
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
