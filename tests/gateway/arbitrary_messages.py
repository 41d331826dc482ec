"""Any message that a peer could send: fields set or not, numbers at their limits, unknown enum values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st

MAX_DEPTH = 6
INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 20)
INT32 = st.integers(-(2**31), 2**31 - 1) | st.integers(0, 20)
SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_DOUBLE: st.floats(),
    FieldDescriptor.TYPE_INT64: INT64,
    FieldDescriptor.TYPE_INT32: INT32,
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_STRING: st.text(max_size=12)
    | st.sampled_from(['{"a": [NaN', '{"a": 1, "b": [2]}', "\r\n\u2028"]),
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=12),
    FieldDescriptor.TYPE_ENUM: st.integers(-1, 30) | INT32,
}


def messages(kind: Callable[[], Message]) -> st.SearchStrategy[Any]:
    """Messages of one type."""
    return st.composite(_drawn)(kind)


def _drawn(draw: Any, kind: Callable[[], Message], depth: int = 0) -> Message:
    message = kind()
    descriptor = cast("Any", message).DESCRIPTOR
    chosen = {oneof.name: draw(st.sampled_from([field.name for field in oneof.fields])) for oneof in descriptor.oneofs}
    for field in descriptor.fields:
        oneof = field.containing_oneof
        if draw(st.booleans()) if oneof is None else chosen[oneof.name] == field.name:
            _fill(draw, message, field, depth)
    return message


def _fill(draw: Any, message: Message, field: Any, depth: int) -> None:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        if depth < MAX_DEPTH:
            kind = field.message_type._concrete_class
            values = [_drawn(draw, kind, depth + 1) for _ in range(draw(st.integers(0, 2)) if field.is_repeated else 1)]
            _store(message, field, values)
        return
    scalar = SCALARS[field.type]
    _store(message, field, draw(st.lists(scalar, max_size=3)) if field.is_repeated else [draw(scalar)])


def _store(message: Message, field: Any, values: list[Any]) -> None:
    if field.is_repeated and field.message_type and field.message_type.GetOptions().map_entry:
        getattr(message, field.name).update({entry.key: entry.value for entry in values})
    elif field.is_repeated:
        getattr(message, field.name).extend(values)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        getattr(message, field.name).CopyFrom(values[0])
    else:
        setattr(message, field.name, values[0])
