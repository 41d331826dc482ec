"""Makes a test case smaller by the numbers that its `create_inputs` takes, so that a machine can run it.

The new numbers replace the old ones everywhere in the case, by value: in the defaults and the closure of
`create_inputs`, and in the fields that the definition reads. If a field has a number that `create_inputs` does not
take, the two could disagree, so the case is left as it is.
"""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

_SMALLEST = 64
"""Smaller numbers are widths of filters, dimensions, powers and the like."""
_LARGEST = 1 << 40
"""Larger numbers are moduli, not sizes."""
_LEAST = 32
_MOST_SHOWN = 80


def shrunk(case: dict[str, Any], factor: int, alignment: int) -> tuple[dict[str, Any], str]:
    """The case with its numbers divided by about `factor`, and those numbers as text, which is empty if none changed.

    What divides a number and `alignment` also divides the smaller one, as kernels may rely on it. Odd numbers stay odd.
    A number whose name has `seed` in it is no size.
    """
    create = case["create_inputs"]
    taken = _taken(create)
    smaller = {number: _smaller(number, factor, alignment) for value in taken.values() for number in _numbers_in(value)}
    fields = {name: value for name, value in case.items() if name not in {"name", "create_inputs"}}
    known = {name: value for name, value in fields.items() if not _is_seed(name)}
    if any(
        _smaller(number, factor, alignment) != smaller.get(number, number)
        for number in _numbers_in(list(known.values()))
    ):
        return case, ""
    changed = {name: value for name, value in taken.items() if any(smaller[n] != n for n in _numbers_in(value))}
    if not changed:
        return case, ""
    renewed = {name: _replaced(value, smaller) for name, value in known.items()}
    text = ", ".join(f"{name}={_replaced(value, smaller)!r}"[:_MOST_SHOWN] for name, value in changed.items())
    return {**case, **renewed, "create_inputs": _with_numbers(create, smaller)}, text


def _smaller(number: int, factor: int, alignment: int) -> int:
    if not _SMALLEST <= number <= _LARGEST:
        return number
    step = math.gcd(number, alignment)
    fewer = step * max(-(-_LEAST // step), number // factor // step)
    return fewer | (number & 1)


def _taken(create: Callable[..., Any]) -> dict[str, Any]:
    """Values that `create` has by its defaults, its closure, or as a partial call, by their names."""
    if isinstance(create, functools.partial):
        names = list(inspect.signature(create.func).parameters)
        bound = dict(zip(names, create.args, strict=False)) | create.keywords
        return _sizes({**_taken(create.func), **bound})
    if not isinstance(create, types.FunctionType):
        return {}
    code = create.__code__
    names = code.co_varnames[: code.co_argcount]
    values = create.__defaults__ or ()
    by_name = dict(zip(names[len(names) - len(values) :], values, strict=True)) | (create.__kwdefaults__ or {})
    for name, cell in zip(code.co_freevars, create.__closure__ or (), strict=True):
        by_name.setdefault(name, _content(cell))
    return _sizes(by_name)


def _sizes(by_name: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in by_name.items() if not _is_seed(name) and _numbers_in(value)}


def _is_seed(name: str) -> bool:
    return "seed" in name.lower()


def _numbers_in(value: Any) -> list[int]:  # noqa: ANN401  any value of an author's case
    if isinstance(value, list | tuple):
        return [number for item in value for number in _numbers_in(item)]
    if isinstance(value, dict):
        return _numbers_in([item for name, item in value.items() if not _is_seed(str(name))])
    return [value] if type(value) is int else []


def _replaced(value: Any, smaller: dict[int, int]) -> Any:  # noqa: ANN401  as above
    if type(value) is int:
        return smaller.get(value, value)
    if isinstance(value, list | tuple):
        items = [_replaced(item, smaller) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {name: item if _is_seed(str(name)) else _replaced(item, smaller) for name, item in value.items()}
    return value


def _with_numbers(create: Callable[..., Any], smaller: dict[int, int]) -> Callable[..., Any]:
    if isinstance(create, functools.partial):
        args = [_replaced(value, smaller) for value in create.args]
        return functools.partial(_with_numbers(create.func, smaller), *args, **_replaced(create.keywords, smaller))
    if not isinstance(create, types.FunctionType):
        return create
    cells = tuple(
        _cell(name, cell, smaller)
        for name, cell in zip(create.__code__.co_freevars, create.__closure__ or (), strict=True)
    )
    names = create.__code__.co_varnames[: create.__code__.co_argcount]
    values = create.__defaults__ or ()
    defaults = tuple(
        value if _is_seed(name) else _replaced(value, smaller)
        for name, value in zip(names[len(names) - len(values) :], values, strict=True)
    )
    made = types.FunctionType(create.__code__, create.__globals__, create.__name__, defaults, cells)
    made.__kwdefaults__ = _replaced(create.__kwdefaults__ or {}, smaller) or None
    return made


def _cell(name: str, cell: Any, smaller: dict[int, int]) -> Any:  # noqa: ANN401  cells have no type here
    content = _content(cell)
    # Only numbers are compared: a tensor is not equal to itself in a word.
    is_size = not _is_seed(name) and isinstance(content, int | list | tuple) and _numbers_in(content)
    return types.CellType(_replaced(content, smaller)) if is_size else cell


def _content(cell: Any) -> Any:  # noqa: ANN401  an empty cell has none
    try:
        return cell.cell_contents
    except ValueError:
        return None
