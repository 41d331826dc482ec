"""Properties that are computed once, on first use.

Until Python 3.12 `functools.cached_property` takes a lock for each, which cost an eighth of the passes' time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_Owner = TypeVar("_Owner")
_Value = TypeVar("_Value")


class lazy(Generic[_Owner, _Value]):  # noqa: N801 - it reads as `property` does
    """Turns a method into a lazy property."""

    def __init__(self, read: Callable[[_Owner], _Value]) -> None:
        self._read = read
        self._name = read.__name__
        self.__doc__ = read.__doc__

    def __get__(self, instance: _Owner, owner: type[_Owner]) -> _Value:
        value = instance.__dict__[self._name] = self._read(instance)
        return value
