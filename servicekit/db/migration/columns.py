"""Shapes that the tables of migrations share: columns of one type, and indexes of some of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.types import TypeEngine

    Kind = type[TypeEngine[Any]]


def required(kind: Kind, *names: str) -> list[sa.Column[Any]]:
    """Columns that are never null."""
    return [sa.Column(name, kind, nullable=False) for name in names]


def optional(kind: Kind, *names: str) -> list[sa.Column[Any]]:
    """Columns that may be null."""
    return [sa.Column(name, kind) for name in names]


def with_default(kind: Kind, **defaults: str | sa.ColumnElement[bool]) -> list[sa.Column[Any]]:
    """Columns that are never null, with the defaults that the database sets."""
    return [sa.Column(name, kind, nullable=False, server_default=default) for name, default in defaults.items()]


def keys(kind: Kind, *names: str) -> list[sa.Column[Any]]:
    """Columns of the primary key."""
    return [sa.Column(name, kind, primary_key=True) for name in names]


def index_rows(name: str, table: str, columns: Sequence[str], condition: str, *, unique: bool = False) -> None:
    """Creates an index of the rows for which `condition` holds."""
    where = sa.text(condition)
    op.create_index(name, table, columns, unique=unique, sqlite_where=where, postgresql_where=where)
