"""Integer expressions of a shape, such as `ceil_div(n, 256) * elements(input)`: parsed by `ast`, evaluated by us.

Integers, names, + - * / // % (both divisions round down), comparisons (1 or 0), `a if test else b`, parentheses,
`name[index]` of an array that host code may read, and the functions in FUNCTIONS. Nothing else is taken, every value
stays within 64 bits, and the text is short: an expression takes microseconds, whatever it says.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_CHARACTERS = 500
LARGEST = (1 << 63) - 1
_MAX_DEPTH = 50
_MAX_ELEMENTS = 64

FUNCTIONS = ("ceil_div", "min", "max", "elements", "product")
"""`ceil_div(a, b)` rounds up, `elements(x)` is the size of array `x`, `product(x, first, last)` multiplies a slice."""


class ExpressionError(ValueError):
    """An expression cannot be read, or has no value for this shape; the message says why."""


@dataclass(frozen=True)
class Shape:
    """What expressions may name: scalars, the element counts of arrays, and arrays whose values are known."""

    scalars: Mapping[str, int]
    elements: Mapping[str, int] = field(default_factory=dict[str, int])
    arrays: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])


@dataclass(frozen=True)
class Expression:
    """A parsed expression; `text` is what its author wrote."""

    text: str
    tree: ast.expr

    def names(self) -> set[str]:
        """The parameters that it needs."""
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and id(node) not in called}

    def value(self, shape: Shape) -> int:
        """Its value; raises ExpressionError."""
        return _value(self.tree, shape)


def parse(text: str | int) -> Expression:
    """Read an expression; raises ExpressionError."""
    if isinstance(text, bool) or (isinstance(text, int) and abs(text) > LARGEST):
        raise ExpressionError("must be an integer of at most 64 bits, or an expression")
    written = str(text).strip()
    if len(written) > MAX_CHARACTERS:
        raise ExpressionError(f"has {len(written)} characters; at most {MAX_CHARACTERS} are taken")
    try:
        tree = ast.parse(written, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"`{_short(written)}` is not an expression") from error
    _check(tree, _MAX_DEPTH)
    return Expression(written, tree)


_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARGUMENTS = {"ceil_div": 2, "elements": 1, "product": 3}


def _check(node: ast.expr, depth: int) -> None:
    """Refuse, before anything is evaluated, whatever is not in the module's list."""
    if depth == 0:
        raise ExpressionError("is nested too deeply")
    for child in _parts(node):
        _check(child, depth - 1)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What `node` is made of; raises ExpressionError for what is not taken."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and value <= LARGEST:
            return []
        case ast.Name():
            return []
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return [left, right]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [test, body, orelse]
        case ast.Subscript(value=ast.Name(), slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
            return [index]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _arguments(name, arguments)
        case _:
            raise ExpressionError(
                f"`{_short(ast.unparse(node))}` is not taken: use integers, parameters, + - * / %, comparisons, "
                f"`a if test else b` and {', '.join(FUNCTIONS)}"
            )


def _arguments(name: str, arguments: list[ast.expr]) -> list[ast.expr]:
    if name not in FUNCTIONS:
        raise ExpressionError(f"`{_short(name)}` is no function; there are {', '.join(FUNCTIONS)}")
    if len(arguments) != _ARGUMENTS.get(name, max(len(arguments), 2)):
        raise ExpressionError(f"`{name}` takes {_ARGUMENTS.get(name, '2 or more')} arguments, not {len(arguments)}")
    if name in {"elements", "product"}:
        if not isinstance(arguments[0], ast.Name):
            raise ExpressionError(f"the first argument of `{name}` is an array's name")
        return arguments[1:]
    return arguments


def _value(node: ast.expr, shape: Shape) -> int:
    value = _unbounded(node, shape)
    if abs(value) > LARGEST:
        raise ExpressionError(f"`{_short(ast.unparse(node))}` does not fit into 64 bits")
    return value


def _unbounded(node: ast.expr, shape: Shape) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            return _scalar(name, shape)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, shape)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _divided(_BINARY[type(op)], _value(left, shape), _value(right, shape), node)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return int(_COMPARISONS[type(op)](_value(left, shape), _value(right, shape)))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, shape) else orelse, shape)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return _element(name, _value(index, shape), shape)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _called(name, arguments, shape)
        case _:
            raise ExpressionError(f"`{_short(ast.unparse(node))}` is not taken")


def _divided(operation: Callable[[int, int], int], left: int, right: int, node: ast.expr) -> int:
    try:
        return operation(left, right)
    except ZeroDivisionError as error:
        raise ExpressionError(f"`{_short(ast.unparse(node))}` divides by zero") from error


def _called(name: str, arguments: list[ast.expr], shape: Shape) -> int:
    match name, arguments:
        case "elements", [ast.Name(id=array)]:
            if array not in shape.elements:
                raise ExpressionError(f"`{array}` is no array; arrays are {_listed(shape.elements)}")
            return shape.elements[array]
        case "product", [ast.Name(id=array), first, last]:
            return _product(array, _value(first, shape), _value(last, shape), shape)
        case _:
            values = [_value(argument, shape) for argument in arguments]
    if name == "ceil_div":
        return -_divided(operator.floordiv, -values[0], values[1], arguments[1])
    return min(values) if name == "min" else max(values)


def _product(array: str, first: int, last: int, shape: Shape) -> int:
    values = _array(array, shape)
    if not 0 <= first <= last <= len(values) or last - first > _MAX_ELEMENTS:
        raise ExpressionError(f"`product({array}, {first}, {last})`: the array has {len(values)} elements")
    return math.prod(values[first:last])


def _element(array: str, index: int, shape: Shape) -> int:
    values = _array(array, shape)
    if not 0 <= index < len(values):
        raise ExpressionError(f"`{array}[{index}]`: the array has {len(values)} elements")
    return values[index]


def _array(name: str, shape: Shape) -> Sequence[int]:
    if name not in shape.arrays:
        raise ExpressionError(f"the values of `{_short(name)}` are not known here; known are {_listed(shape.arrays)}")
    return shape.arrays[name]


def _scalar(name: str, shape: Shape) -> int:
    if name not in shape.scalars:
        raise ExpressionError(f"`{_short(name)}` is no integer parameter; there are {_listed(shape.scalars)}")
    return shape.scalars[name]


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
