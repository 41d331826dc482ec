"""Formats a sample run's values as arrays; pure, and tolerant of any values."""

from __future__ import annotations

from typing import Any, cast

COLUMN_GAP = "  "
INDENT = "  "


def sample_text(fields: dict[str, Any]) -> list[str]:
    """Lines with the input, the output and the expected output; none if the event has no values."""
    if "expected_output" not in fields:
        return []
    titles = {"input": "input", "output": "your output", "expected_output": "expected output"}
    return [line for key, title in titles.items() for line in (f"{title}:", *_value(fields.get(key)))]


def _value(value: object) -> list[str]:
    if isinstance(value, dict):
        named = _named(cast("dict[str, Any]", value))
        return [line for name, item in named for line in _array(item, f"{INDENT}{name} = ")]
    return _array(value, INDENT)


def _named(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """Pairs of name and value: several outputs come as `{multi, names, values}`, inputs as `{name: value}`."""
    if not value.get("multi"):
        return list(value.items())
    values, names = _items(value.get("values")), _items(value.get("names"))
    return [(names[at] if at < len(names) else f"output {at + 1}", item) for at, item in enumerate(values)]


def _items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _array(value: object, prefix: str) -> list[str]:
    rows = _rows(value)
    blank = " " * len(prefix)
    return [f"{blank if at else prefix}{row}".rstrip() for at, row in enumerate(rows)]


def _rows(value: object) -> list[str]:
    """A line for each row of the innermost two dimensions, with a gap between blocks."""
    if not isinstance(value, list):
        return [_element(value)]
    items = cast("list[Any]", value)
    if not any(isinstance(item, list) for item in items):
        return [COLUMN_GAP.join(map(_element, items))]
    is_deeper = any(
        isinstance(row, list) for item in items if isinstance(item, list) for row in cast("list[Any]", item)
    )
    blocks = [_rows(item) for item in items]
    return [line for block in blocks for line in (*block, *([""] if is_deeper else []))]


def _element(value: object) -> str:
    """Enough digits to tell a float32 from its neighbours."""
    return f"{value:.9g}" if isinstance(value, float) else "NaN or inf" if value is None else str(value)
