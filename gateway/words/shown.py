"""Turns a service's message into what HTTP shows of it, field by field, under the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, get_args

from google.protobuf.duration_pb2 import Duration
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel

from gateway.words.enum_names import enum_name
from gateway.words.proto_time import instant_of, seconds_of
from vocabulary.money import dollars_of

ShownT = TypeVar("ShownT", bound=BaseModel)

_OF_TIMES = {Timestamp.DESCRIPTOR.full_name: instant_of, Duration.DESCRIPTOR.full_name: seconds_of}


def shown(model: type[ShownT], message: Message, **own: object) -> ShownT:
    """The model with a message's fields; `own` has those that the message lacks, or has with another meaning.

    `id` is the message's first field if that is an id, `…_usd…` its `…_micros…`, and `…_seconds` its duration of the
    same name. An instant is a datetime, a duration seconds, an enum's value its name without the prefix, and a message
    a model. A field that may be null is null if the message's is not set; if it is always set, then if it is empty.
    """
    readers = _readers(model, message.DESCRIPTOR)
    return model(**{name: read(message) for name, read in readers.items() if name not in own}, **own)


@cache
def _readers(model: type[BaseModel], descriptor: Any) -> Mapping[str, Callable[[Any], object]]:  # noqa: ANN401  untyped
    """How to read each field of the model from messages of a type, as far as they have it."""
    sources, first = descriptor.fields_by_name, descriptor.fields[0].name
    found: dict[str, Callable[[Any], object]] = {}
    for name, info in model.model_fields.items():
        own = first if name == "id" and first.endswith("_id") else name
        names = (own, name.replace("_usd", "_micros"), name.replace("_seconds", ""))
        source = next((sources[one] for one in names if one in sources), None)
        if source is not None:
            found[name] = _reader(source, info.annotation, is_money=source.name != name and "_usd" in name)
    return found


def _reader(source: Any, annotation: Any, *, is_money: bool) -> Callable[[Any], object]:  # noqa: ANN401
    name = source.name
    convert: Callable[[Any], object] = dollars_of if is_money else _converter(source, annotation)
    if NoneType not in get_args(annotation):
        return lambda message: convert(getattr(message, name))
    if source.has_presence:
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else None
    return lambda message: convert(value) if (value := getattr(message, name)) else None


def _converter(source: Any, annotation: Any) -> Callable[[Any], object]:  # noqa: ANN401
    """How to turn a value of the field into what the annotation wants."""
    wanted = next((one for one in (annotation, *get_args(annotation)) if _is_model(one)), None)
    kind = source.message_type
    if kind is not None and kind.GetOptions().map_entry:
        return dict
    if source.is_repeated:
        return list if wanted is None else lambda values: [shown(wanted, value) for value in values]
    if wanted is not None:
        return partial(shown, wanted)
    if source.enum_type is not None:
        prefix = source.enum_type.values[0].name.removesuffix("UNSPECIFIED")
        return partial(enum_name, EnumTypeWrapper(source.enum_type).Name, prefix)
    return _OF_TIMES[kind.full_name] if kind is not None else lambda value: value


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
