"""Column type for several values in one column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy import Dialect


class JsonTuple(TypeDecorator[tuple[Any, ...]]):
    """A tuple of texts or whole numbers, stored as a JSON array."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Any, ...] | None, dialect: Dialect) -> str | None:
        """Converts a value for the database."""
        del dialect
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> tuple[Any, ...] | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else tuple(json.loads(value))
