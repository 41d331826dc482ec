"""Turns the core's events into messages (wavepool.executor.v1.RunEvent), which go from the judge to people unchanged.

A message has the fields of the record of its name in `events.py`, under the same names, so a new field needs no change
here. Protobuf takes only well-formed Unicode, so texts are replaced as needed. None leaves a field unset. Fields that
the message lacks stay with the judge.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, cast

from wavepool.executor.v1 import run_event_pb2
from wavepool.executor.v1.run_event_pb2 import RunEvent
from wavepool.executor.v1.run_event_pb2 import Verdict as VerdictNumber

from services.executor.core.model.events import Compiled, Event, Finished
from services.executor.core.model.plain import plain
from services.executor.core.model.report import canonical_json
from services.executor.core.model.verdict import Verdict

LENGTH = struct.Struct(">I")
"""The length in bytes, which precedes each message in a judge's pipes."""
UNKILLABLE_STATUS = 4
"""A judge's exit status if processes of its sandboxes are left that SIGKILL does not end."""
_NAMES = {kind.message_type.name: kind.name for kind in cast("Any", RunEvent).DESCRIPTOR.oneofs_by_name["event"].fields}


def message_of(event: Event) -> RunEvent:
    """The event as a message, without its number and its time."""
    message = RunEvent()
    body: Any = getattr(message, _NAMES[type(event).__name__])
    body.SetInParent()
    _fill(body, event)
    if isinstance(event, Compiled):
        body.duration.FromNanoseconds(round(event.duration_ms * 1e6))
        # Compresses to about a sixth.
        body.isa_listing_zlib = zlib.compress(_well_formed(event.isa_listing).encode()) if event.isa_listing else b""
    if isinstance(event, Finished) and event.report:
        body.unsigned_report = _well_formed(canonical_json(plain(event.report)))
    return message


def framed(data: bytes) -> bytes:
    """A message in the form that a judge's pipes carry."""
    return LENGTH.pack(len(data)) + data


def verdict_of(finished: run_event_pb2.Finished) -> Verdict:
    """The verdict of a message as the core's own enum."""
    return Verdict(VerdictNumber.Name(finished.verdict).removeprefix("VERDICT_"))


def _fill(message: Any, record: Any) -> None:  # noqa: ANN401  any message, and the record of its name
    for one in fields(record):
        field, value = message.DESCRIPTOR.fields_by_name.get(one.name), getattr(record, one.name)
        if field is None or value is None:
            continue
        if isinstance(value, Mapping):
            _fill_named(getattr(message, one.name), cast("Mapping[str, Any]", value))
        elif isinstance(value, tuple):
            _fill_all(getattr(message, one.name), cast("tuple[Any, ...]", value))
        elif is_dataclass(value):
            nested = getattr(message, one.name)
            nested.SetInParent()
            _fill(nested, value)
        else:
            setattr(message, one.name, _scalar(field, value))


def _fill_all(repeated: Any, values: tuple[Any, ...]) -> None:  # noqa: ANN401
    if values and is_dataclass(values[0]):
        for value in values:
            _fill(repeated.add(), value)
    else:
        repeated.extend([_well_formed(value) if isinstance(value, str) else value for value in values])


def _fill_named(repeated: Any, values: Mapping[str, Any]) -> None:  # noqa: ANN401
    for name, value in values.items():
        _fill(repeated.add(name=_well_formed(name)), value)


def _scalar(field: Any, value: Any) -> Any:  # noqa: ANN401
    if field.enum_type is not None and isinstance(value, Enum):
        numbers = field.enum_type.values_by_name
        # BenchmarkStage has the names BENCHMARK_STAGE_MEASURING and so on; 0 stands for an unknown value.
        prefix = field.enum_type.values[0].name.removesuffix("UNSPECIFIED")
        number = numbers.get(f"{prefix}{value.name}")
        return number.number if number else 0
    return _well_formed(value) if isinstance(value, str) else value


def _well_formed(text: str) -> str:
    return text.encode(errors="replace").decode()
