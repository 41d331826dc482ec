"""Column types for several values in one column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.spec import Lease
from vocabulary.slots import Slot

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


_RESERVATION = TypeAdapter(Reservation)


class ReservationColumn(TypeDecorator[Reservation]):
    """A reservation, stored as JSON; fields that came later have their defaults in older rows."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Reservation | None, dialect: Dialect) -> str | None:
        """Converts a value for the database."""
        del dialect
        return None if value is None else _RESERVATION.dump_json(value, exclude_defaults=True).decode()

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Reservation | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else _RESERVATION.validate_json(value)


_LEASES = TypeAdapter(tuple[Lease, ...])


class LeasesColumn(TypeDecorator[tuple[Lease, ...]]):
    """Leases, stored as a JSON array."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Lease, ...] | None, dialect: Dialect) -> str | None:
        """Converts a value for the database."""
        del dialect
        return None if value is None else _LEASES.dump_json(value).decode()

    def process_result_value(self, value: Any | None, dialect: Dialect) -> tuple[Lease, ...] | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else _LEASES.validate_json(value)
