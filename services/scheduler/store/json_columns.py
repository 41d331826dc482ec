"""Column types for several values in one column."""

from __future__ import annotations

import json
from typing import Any, ClassVar, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.spec import Lease
from vocabulary.slots import Slot

_T = TypeVar("_T")


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


class Slots(TypeDecorator[tuple[Slot, ...]]):
    """Slots of a machine, stored as a JSON array of GPU, first eighth and eighths of each."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Slot, ...] | None, dialect: Dialect) -> str | None:
        """Converts a value for the database."""
        del dialect
        return None if value is None else json.dumps([(slot.gpu, slot.first, slot.eighths) for slot in value])

    def process_result_value(self, value: Any | None, dialect: Dialect) -> tuple[Slot, ...] | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else tuple(Slot(*numbers) for numbers in json.loads(value))


class _Adapted(TypeDecorator[_T]):
    """A value that pydantic turns into JSON and back; fields that came later have their defaults in older rows."""

    impl = Text
    cache_ok = True
    adapter: ClassVar[TypeAdapter[Any]]
    leaves_out_defaults: ClassVar[bool] = False

    def process_bind_param(self, value: _T | None, dialect: Dialect) -> str | None:
        """Converts a value for the database."""
        del dialect
        return (
            None if value is None else self.adapter.dump_json(value, exclude_defaults=self.leaves_out_defaults).decode()
        )

    def process_result_value(self, value: Any | None, dialect: Dialect) -> _T | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else self.adapter.validate_json(value)


class ReservationColumn(_Adapted[Reservation]):
    """A reservation, stored as JSON."""

    cache_ok = True
    adapter = TypeAdapter(Reservation)
    leaves_out_defaults = True


class LeasesColumn(_Adapted[tuple[Lease, ...]]):
    """Leases, stored as a JSON array."""

    cache_ok = True
    adapter = TypeAdapter(tuple[Lease, ...])
