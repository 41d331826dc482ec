"""The moves of a table's state that the database itself allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Table, insert, update
from sqlalchemy.exc import DatabaseError

from servicekit.db.database import Database


async def allowed_moves(
    database: Database,
    table: Table,
    states: Iterable[str],
    values: Callable[[str], dict[str, Any]],
    row: dict[str, Any],
) -> dict[str, set[str]]:
    """Maps each state to the states that a row in it may move to. Leaves nothing in the database.

    `values` returns the columns of a row in a state, including the state itself.
    """
    found: dict[str, set[str]] = {state: set() for state in states}
    for old, reached in found.items():
        async with database.engine.connect() as connection:
            for new in set(found) - {old}:
                transaction = await connection.begin()
                await connection.execute(insert(table).values(row | values(old)))
                try:
                    await connection.execute(update(table).values(values(new)))
                    reached.add(new)
                except DatabaseError as error:
                    if "illegal move" not in str(error):
                        raise
                await transaction.rollback()
    return found
