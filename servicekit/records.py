"""Carries values between our records (dataclasses) and what has them under the same names: rows, messages, settings.

In a row, a duration is a number of microseconds in the column of its name and `_us`, a member of an enum is its value,
and an empty text is null where a column may be null.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import timedelta
from enum import Enum, EnumMeta
from functools import cache
from typing import Any, TypeVar, get_type_hints

Record = TypeVar("Record")

_MICROSECOND = timedelta(microseconds=1)
_MISSING: Any = object()


def record_of(kind: type[Record], *sources: object, **given: object) -> Record:
    """A record with the values that are `given`, and otherwise those of the first source that has them.

    Raises AttributeError if nothing has a field, even one with a default, so that none is forgotten.
    """
    taken = {name: _taken(name, hint, sources) for name, hint in _hints(kind) if name not in given}
    return kind(**given, **taken)


def row_of(table: Any, *sources: object, **given: object) -> dict[str, Any]:  # noqa: ANN401 - sqlalchemy's Table
    """All columns of a table with the values that are `given`, and otherwise those of the first source that has them.

    A number that the database gives is left out. Raises AttributeError if nothing has a column.
    """
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.autoincrement is True:
            continue
        # Names are of sqlalchemy's own kind of text, which orjson does not take for a key.
        name = str(column.name)
        value: Any = given[name] if name in given else _cell(name, sources)
        value = value.value if isinstance(value, Enum) else value
        row[name] = None if column.nullable and value == "" else value
    return row


@cache
def _hints(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind) if field.init)


def _taken(name: str, hint: Any, sources: Iterable[object]) -> Any:  # noqa: ANN401 - of any field
    for source in sources:
        value = getattr(source, name, _MISSING)
        if value is None and hint is str:
            return ""
        if value is not _MISSING:
            return hint(value) if isinstance(hint, EnumMeta) and value is not None else value
        microseconds = getattr(source, f"{name}_us", _MISSING)
        if microseconds is not _MISSING:
            return None if microseconds is None else timedelta(microseconds=microseconds)
    raise AttributeError(f"nothing has {name!r}")


def _cell(name: str, sources: Iterable[object]) -> Any:  # noqa: ANN401 - of any column
    stem = name.removesuffix("_us")
    for source in sources:
        value = getattr(source, name, _MISSING)
        if value is not _MISSING:
            return value
        span = _MISSING if stem == name else getattr(source, stem, _MISSING)
        if span is not _MISSING:
            return None if span is None else span // _MICROSECOND
    raise AttributeError(f"nothing has {name!r}")
