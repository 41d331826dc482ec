"""Columns of tables: each has an item's field of the given name, or what a function says of the item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from wavepool_client.text.start_times import time_text

Fields: TypeAlias = dict[str, Any]
Column: TypeAlias = str | Callable[[Fields], object]


def written(field: str, words: Callable[[Any], object] = time_text) -> Column:
    """The item's field in words; without others, as the time that it is."""
    return lambda item: words(item.get(field))
