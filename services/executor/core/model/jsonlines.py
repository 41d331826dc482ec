"""Records as JSON, and a job as the line of it that a judge begins with.

Floats that JSON lacks are the strings NaN, Infinity and -Infinity. Fields that the reader does not know are skipped, so
that a newer writer can add some.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from services.executor.core.model.job import CoreJob

T = TypeVar("T")

UNKILLABLE_STATUS = 4
"""A judge's exit status where processes of its sandboxes are left that SIGKILL does not end."""


class LineError(ValueError):
    """A line is no job, or not the record that is wanted; the message names what is wrong."""


def encode_job(job: CoreJob) -> str:
    """One line, without its end."""
    return json.dumps(plain(job))


def decode_job(line: str) -> CoreJob:
    """The job of a line; raises LineError."""
    return _from_plain(CoreJob, _object(line))


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise LineError("not a JSON object")
    return cast("dict[str, Any]", value)


def plain(value: Any) -> Any:  # noqa: ANN401  JSON is what it is
    """Dataclasses and mappings as objects, tuples as lists, floats that JSON lacks as strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def read_as(kind: type[T], fields: Mapping[str, Any]) -> T:
    """The dataclass that `plain` gave `fields` of; raises LineError."""
    return _from_plain(kind, fields)


def _from_plain(kind: type[T], fields: Mapping[str, Any]) -> T:
    hints = _hints(kind)
    try:
        return kind(**{name: _value(hints[name], item, name) for name, item in fields.items() if name in hints})
    except TypeError as error:
        raise LineError(f"{kind.__name__}: {error}") from error


def _value(hint: Any, item: Any, name: str) -> Any:  # noqa: ANN401
    origin = get_origin(hint)
    if origin is UnionType:
        return None if item is None else _value(next(a for a in get_args(hint) if a is not NoneType), item, name)
    if origin is tuple:
        return tuple(_value(get_args(hint)[0], part, name) for part in _list(item, name))
    if origin is Mapping:
        entry = get_args(hint)[1]
        return {key: _value(entry, part, name) for key, part in _dict(item, name).items()}
    if hint is object:
        return item
    if dataclasses.is_dataclass(hint):
        return _from_plain(cast("type[Any]", hint), _dict(item, name))
    return _scalar(hint, item, name)


def _scalar(hint: Any, item: Any, name: str) -> Any:  # noqa: ANN401
    allowed = (int, float, str) if hint is float else (str,) if issubclass(hint, Enum) else (hint,)
    if not isinstance(item, allowed) or (isinstance(item, bool) and hint is not bool):
        raise LineError(f"field `{name}` is {item!r}; it must be {hint.__name__}")
    try:
        return hint(item)
    except ValueError as error:
        raise LineError(f"field `{name}`: {error}") from error


def _list(item: Any, name: str) -> list[Any]:  # noqa: ANN401
    if not isinstance(item, list):
        raise LineError(f"field `{name}` is {item!r}; it must be a list")
    return cast("list[Any]", item)


def _dict(item: Any, name: str) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(item, dict):
        raise LineError(f"field `{name}` is {item!r}; it must be an object")
    return cast("dict[str, Any]", item)
