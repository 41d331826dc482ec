"""Makes messages from objects of ours whose attributes have the names of the messages' fields.

So a wire module names only what differs: a field that is called otherwise here, and one that is worked out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

Made = TypeVar("Made", bound=Message)

_CONVERTED_BY_PROTOBUF = frozenset({"google.protobuf.Duration", "google.protobuf.Timestamp"})


def proto_of(kind: type[Made], *sources: object, **given: object) -> Made:
    """A message with a value for each of its fields: the one that is `given`, or that of the first source that has it.

    An enum's member becomes the value with its name, and objects become messages in the same way; None leaves a field
    unset. Raises AttributeError if nothing has a field, so that none of a changed proto is forgotten.
    """
    described = cast("Iterable[FieldDescriptor]", kind.DESCRIPTOR.fields)
    fields = {field.name: _value(field, given, sources) for field in described}
    if strange := given.keys() - fields.keys():
        raise AttributeError(f"{kind.__name__} has no field {', '.join(sorted(strange))}")
    return kind(**fields)


def _value(field: FieldDescriptor, given: Mapping[str, object], sources: Iterable[object]) -> Any:  # noqa: ANN401 - whatever the field takes
    if field.name in given:
        value = given[field.name]
    else:
        for source in sources:
            if hasattr(source, field.name):
                value = getattr(source, field.name)
                break
        else:
            raise AttributeError(f"no source has the field {field.full_name}")
    if isinstance(value, Enum) and field.enum_type:
        return field.enum_type.values_by_number[0].name.removesuffix("UNSPECIFIED") + value.name
    nested = field.message_type
    if value is None or not nested or nested.full_name in _CONVERTED_BY_PROTOBUF or nested.GetOptions().map_entry:
        return value
    if field.is_repeated:
        return [_message(nested, one) for one in cast("Iterable[object]", value)]
    return _message(nested, value)


def _message(kind: Any, value: object) -> Message:  # noqa: ANN401 - a descriptor
    return value if isinstance(value, Message) else proto_of(GetMessageClass(kind), value)
