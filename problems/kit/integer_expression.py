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
_MOST_SHOWN = 60

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


Meaning = Callable[[Shape], int]


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its author's text, the parameters that it names, and its meaning."""

    text: str
    names: frozenset[str]
    meaning: Meaning = field(compare=False)

    def value(self, shape: Shape) -> int:
        """Its value; raises ExpressionError."""
        return self.meaning(shape)


def parse(text: str | int) -> Expression:
    """Read an expression; raises ExpressionError."""
    if isinstance(text, bool) or (isinstance(text, int) and abs(text) > LARGEST):
        raise ExpressionError("must be an integer of at most 64 bits, or an expression")
    # On one line: an offset into it is enough to show what is meant.
    written = " ".join(str(text).split())
    if len(written) > MAX_CHARACTERS:
        raise ExpressionError(f"has {len(written)} characters; at most {MAX_CHARACTERS} are taken")
    try:
        tree = ast.parse(written, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"`{_short(written)}` is not an expression") from error
    return Expression(written, _names_of(tree), _meaning(tree, written, _MAX_DEPTH))


def parse_list(text: str) -> tuple[Expression, ...]:
    """Read expressions that commas separate, such as `m, ceil_div(k, 16)`; raises ExpressionError."""
    try:
        tree = ast.parse(f"[{text}]", mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"`{_short(text)}` is not a list of expressions") from error
    return tuple(parse(ast.unparse(one)) for one in ast.iter_child_nodes(tree) if isinstance(one, ast.expr))


def _names_of(tree: ast.expr) -> frozenset[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)


def _floor_quotient(left: int, right: int) -> int:
    return left // right


_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    # In a function of ours, as the types of operator.floordiv are unknown.
    ast.Div: _floor_quotient,
    ast.FloorDiv: _floor_quotient,
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


def _meaning(node: ast.expr, written: str, depth: int) -> Meaning:
    """What `node` says; raises ExpressionError for whatever is not in the module's list."""
    if depth == 0:
        raise ExpressionError("is nested too deeply")
    reader = _READERS.get(type(node))
    meaning = reader(node, written, depth - 1) if reader else None
    if meaning is None:
        raise ExpressionError(
            f"`{_shown(node, written)}` is not taken: use integers, parameters, + - * / %, comparisons, "
            f"`a if test else b` and {', '.join(FUNCTIONS)}"
        )
    return _within_64_bits(meaning, _shown(node, written))


def _within_64_bits(meaning: Meaning, shown: str) -> Meaning:
    def bounded(shape: Shape) -> int:
        try:
            value = meaning(shape)
        except ZeroDivisionError as error:
            raise ExpressionError(f"`{shown}` divides by zero") from error
        if abs(value) > LARGEST:
            raise ExpressionError(f"`{shown}` does not fit into 64 bits")
        return value

    return bounded


def _constant(node: ast.expr, _written: str, _depth: int) -> Meaning | None:
    value: object = node.value if isinstance(node, ast.Constant) else None
    return (lambda _: value) if isinstance(value, int) and not isinstance(value, bool) else None


def _name(node: ast.expr, _written: str, _depth: int) -> Meaning | None:
    return (lambda shape: _scalar(node.id, shape)) if isinstance(node, ast.Name) else None


def _sign(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub | ast.UAdd):
        return None
    operand = _meaning(node.operand, written, depth)
    return (lambda shape: -operand(shape)) if isinstance(node.op, ast.USub) else operand


def _binary(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.BinOp) or type(node.op) not in _BINARY:
        return None
    operation, left, right = (
        _BINARY[type(node.op)],
        _meaning(node.left, written, depth),
        _meaning(node.right, written, depth),
    )
    return lambda shape: operation(left(shape), right(shape))


def _comparison(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _COMPARISONS:
        return None
    holds = _COMPARISONS[type(node.ops[0])]
    left, right = _meaning(node.left, written, depth), _meaning(node.comparators[0], written, depth)
    return lambda shape: int(holds(left(shape), right(shape)))


def _choice(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.IfExp):
        return None
    test, body, orelse = (_meaning(part, written, depth) for part in (node.test, node.body, node.orelse))
    return lambda shape: body(shape) if test(shape) else orelse(shape)


def _subscript(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    array, index = node.value.id, _meaning(node.slice, written, depth)
    return lambda shape: _element(array, index(shape), shape)


def _call(node: ast.expr, written: str, depth: int) -> Meaning | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        return None
    name, arguments = node.func.id, node.args
    if name not in FUNCTIONS:
        raise ExpressionError(f"`{_short(name)}` is not a function; choose {', '.join(FUNCTIONS)}")
    wanted = _ARGUMENT_COUNTS.get(name)
    if len(arguments) != wanted if wanted else len(arguments) < _LEAST_OPERANDS:
        raise ExpressionError(f"`{name}` takes {wanted or '2 or more'} arguments, not {len(arguments)}")
    if name in {"elements", "product"}:
        return _array_function(name, arguments, written, depth)
    values = [_meaning(argument, written, depth) for argument in arguments]
    if name == "ceil_div":
        return lambda shape: -(-values[0](shape) // values[1](shape))
    choose = min if name == "min" else max
    return lambda shape: choose(value(shape) for value in values)


def _array_function(name: str, arguments: Sequence[ast.expr], written: str, depth: int) -> Meaning:
    if not isinstance(arguments[0], ast.Name):
        raise ExpressionError(f"the first argument of `{name}` is an array's name")
    array = arguments[0].id
    if name == "elements":
        return lambda shape: _size(array, shape)
    first, last = (_meaning(argument, written, depth) for argument in arguments[1:])
    return lambda shape: _product(array, first(shape), last(shape), shape)


_ARGUMENT_COUNTS = {"ceil_div": 2, "elements": 1, "product": 3}
_LEAST_OPERANDS = 2
_READERS: Mapping[type[ast.expr], Callable[[ast.expr, str, int], Meaning | None]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.UnaryOp: _sign,
    ast.BinOp: _binary,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Call: _call,
}


def _size(array: str, shape: Shape) -> int:
    if array not in shape.elements:
        raise ExpressionError(f"`{_short(array)}` is not an array; choose {_listed(shape.elements)}")
    return shape.elements[array]


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
        raise ExpressionError(f"`{_short(name)}` is not an integer parameter; choose {_listed(shape.scalars)}")
    return shape.scalars[name]


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _shown(node: ast.expr, written: str) -> str:
    """The author's own text of `node`. `ast.unparse` would recurse into whatever it is."""
    return _short(written.encode()[node.col_offset : node.end_col_offset].decode(errors="replace"))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
