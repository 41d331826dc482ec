"""Turns services' messages into what HTTP shows of them, field by field, under the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, TypeVar, Union, get_args, get_origin

from google.protobuf.duration_pb2 import Duration
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel
from typing_extensions import get_type_hints, is_typeddict

from gateway.words.answer_words import Documented
from gateway.words.enum_names import enum_name
from gateway.words.proto_time import instant_of, seconds_of, text_of
from vocabulary.money import dollars_of

ShownT = TypeVar("ShownT", bound=BaseModel)
NS_PER_MS = 1e6
_DURATION, _TIMESTAMP = Duration.DESCRIPTOR.full_name, Timestamp.DESCRIPTOR.full_name

_UNITS: Mapping[str, tuple[str, Callable[[Any], object] | None]] = {
    "_usd": ("_micros", dollars_of),
    "_ms": ("_ns", lambda ns: ns / NS_PER_MS),
    "_seconds": ("", None),
    "_at": ("_time", None),
}
"""Units in our names, how the messages' names have them, and how to convert a value."""


def shown(model: type[ShownT], *messages: Message, **own: object) -> ShownT:
    """The model with the fields of messages; `own` has those that no message has, or has with another meaning.

    `id` is the message's first field if that is an id, `…_usd…` its `…_micros…`, `…_ms` its `…_ns`, `…_at` its
    `…_time`, and `…_seconds` its duration of the same name. An instant is a datetime, a duration seconds, and a message
    a model. An enum's value is its name without the prefix, spelt as the words that the field documents. A field that
    may be null is null if the message's is not set; if it is always set, then if it is empty. Of several messages, the
    first counts that has the field.
    """
    return model(**fields_of(model, *messages, **own))


def fields_of(schema: Any, *messages: Message, **own: object) -> dict[str, Any]:  # noqa: ANN401  typed dictionaries
    """The same fields, as far as there are any, for a typed dictionary, in which an instant is text."""
    read = {
        name: (reader, message)
        for message in reversed(messages)
        for name, reader in _readers(schema, message.DESCRIPTOR).items()
    }
    return {name: reader(message) for name, (reader, message) in read.items() if name not in own} | own


@cache
def _readers(schema: Any, descriptor: Any) -> Mapping[str, Callable[[Any], object]]:  # noqa: ANN401  untyped
    """How to read each field of the schema from messages of a type, as far as they have it."""
    sources, first = descriptor.fields_by_name, descriptor.fields[0].name if descriptor.fields else ""
    found: dict[str, Callable[[Any], object]] = {}
    for name, (alias, annotation) in _annotations(schema).items():
        own = first if name == "id" and first.endswith("_id") else name
        if own in sources:
            found[alias] = _reader(sources[own], annotation)
            continue
        for unit, (theirs, convert) in _UNITS.items():
            source = sources.get(name.replace(unit, theirs)) if unit in name else None
            if source is not None:
                found[alias] = _reader(source, annotation, convert)
    return found


def _annotations(schema: Any) -> Mapping[str, tuple[str, Any]]:  # noqa: ANN401
    """The name under which each field is given, and what is said of it."""
    if is_typeddict(schema):
        return {name: (name, hint) for name, hint in get_type_hints(schema, include_extras=True).items()}
    fields = schema.model_fields.items()
    return {name: (info.alias or name, Annotated[(info.annotation, None, *info.metadata)]) for name, info in fields}


def _reader(source: Any, annotation: Any, convert: Callable[[Any], object] | None = None) -> Callable[[Any], object]:  # noqa: ANN401
    name, kinds = source.name, _kinds(annotation)
    converted = convert or _converter(source, kinds)
    if NoneType not in kinds:
        return lambda message: converted(getattr(message, name))
    if source.has_presence:
        return lambda message: converted(getattr(message, name)) if message.HasField(name) else None
    return lambda message: converted(value) if (value := getattr(message, name)) else None


def _kinds(annotation: Any) -> list[Any]:  # noqa: ANN401
    """The types that an annotation allows, of a list those of its items, and what it says beside them."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated or origin is NotRequired:
        return [*_kinds(inner[0]), *inner[1:]]
    if origin in {Union, UnionType}:
        return [kind for one in inner for kind in _kinds(one)]
    if origin is list:
        return [kind for kind in _kinds(inner[0]) if kind is not NoneType]
    return [annotation]


def _converter(source: Any, kinds: Sequence[Any]) -> Callable[[Any], object]:  # noqa: ANN401
    """How to turn a value of the field into what is wanted."""
    within = next((partial(_within, one) for one in kinds if _is_schema(one)), None)
    message = source.message_type
    if message is not None and message.GetOptions().map_entry:
        return dict
    if source.is_repeated:
        return list if within is None else lambda values: list(map(within, values))
    if within is not None:
        return within
    if source.enum_type is not None:
        return _word_reader(source.enum_type, kinds)
    times = {_DURATION: seconds_of, _TIMESTAMP: instant_of if datetime in kinds else text_of}
    return times.get(message.full_name, _as_it_is) if message is not None else _as_it_is


def _word_reader(enum: Any, kinds: Iterable[Any]) -> Callable[[int], str]:  # noqa: ANN401
    """The name of an enum's value without the prefix, in lower case and with hyphens if the documented words are."""
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    name_of = partial(enum_name, EnumTypeWrapper(enum).Name, prefix)
    words = [str(word) for one in kinds if isinstance(one, Documented) for word in one.shape]
    if not words or not all(map(str.islower, words)):
        return name_of
    hyphen = "-" if any("-" in word for word in words) else "_"
    return lambda number: name_of(number).lower().replace("_", hyphen)


def _within(schema: Any, message: Message) -> object:  # noqa: ANN401
    fields = fields_of(schema, message)
    return fields if is_typeddict(schema) else schema(**fields)


def _is_schema(kind: object) -> bool:
    return is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _as_it_is(value: object) -> object:
    return value
