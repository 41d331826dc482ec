"""The calls of a load_inline module that a Python file's `custom_kernel` makes, read from its syntax tree.

Statements are followed in order. An `if` about sizes becomes a condition of the calls in it; a tensor that is made and
not returned is a scratch tensor, made once before the calls. Whatever else decides or changes what is passed is refused
with its line, since a guess would judge another kernel than the author's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

ENTRIES = ("custom_kernel", "solve", "solution")
"""Functions that contests call."""
LARGEST = 2.0**64
"""Numbers beyond it are refused."""
_MOST_SHOWN = 60
_MOST_CALLS = 64
_LONGEST = 200
"""Parts of one computed argument or condition."""
_SIZED = frozenset({"empty", "zeros"})
_LIKE = frozenset({"empty_like", "zeros_like"})
_NEW = _SIZED | _LIKE | {"empty_strided"}
_SAME_BYTES = frozenset({"view", "reshape", "squeeze", "unsqueeze", "contiguous"})
_NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "half", "float16", "bfloat16")
_DTYPES = frozenset({"uint8", "int8", "int16", "int32", "int64", "float", "float32", "double", "float64", *_NARROW})
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class NotLiftedError(Exception):
    """The source is Python, and no HIP source with a call of it was found; the message says why."""


@dataclass(frozen=True)
class Data:
    """A tensor of the data by its place, as an argument; `is_packed` if it must be in row-major order."""

    at: int
    is_packed: bool = False


@dataclass(frozen=True)
class New:
    """An argument that is a new tensor: the output of that place."""

    at: int


@dataclass(frozen=True)
class Scratch:
    """An argument that is a new tensor which is not returned, by its place among them."""

    at: int


@dataclass(frozen=True)
class Extent:
    """A size of a tensor of the data; all its elements if `dimension` is None."""

    at: int
    dimension: int | None


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True)
class Computed:
    """C++ with arguments in it; raises NotLiftedError if it is too long, as a few names that double each other are."""

    parts: tuple[str | Argument, ...]
    length: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Count the parts of the parts."""
        length = sum(one.length if isinstance(one, Computed) else 1 for one in self.parts)
        if length > _LONGEST:
            raise NotLiftedError("what it computes of sizes is too long")
        object.__setattr__(self, "length", length)


Argument = Data | New | Scratch | Extent | Number | Computed
Everything = None
"""All tensors of the data, in order."""


@dataclass(frozen=True)
class Call:
    """A call of the module's function, with the arguments if they are known, if all its conditions hold."""

    function: str
    arguments: Sequence[Argument] | None
    conditions: tuple[Computed, ...] = ()
    is_returned: bool = False


@dataclass(frozen=True)
class Calls:
    """Calls in their order, and the scratch tensors that they share."""

    calls: Sequence[Call]
    scratch: Sequence[Computed] = ()


def name_of(node: ast.AST) -> str:
    """The last word of a name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class ModuleNames:
    """What a file calls the module that `loader` makes, and its functions."""

    def __init__(self, tree: ast.Module, loader: ast.Call) -> None:
        owners = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and loader in ast.walk(one)]
        self._makers = {one.name for one in owners}
        self._modules: dict[str, None] = {}
        self._functions: dict[str, str] = {}
        assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign)]
        # The names of names are assigned later, as a rule; a second look finds the others.
        for one in [*assigned, *assigned]:
            for target in filter(None, map(name_of, one.targets)):
                if one.value is loader or self._is_module(one.value):
                    self._modules[target] = None
                elif isinstance(one.value, ast.Attribute) and self._is_module(one.value.value):
                    self._functions[target] = one.value.attr

    def __str__(self) -> str:
        """The module's first name."""
        return next(iter(self._modules), "load_inline")

    def _is_module(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return name_of(node.func) in self._makers
        return name_of(node) in self._modules

    def function(self, node: ast.AST | None) -> str:
        """The function of the module that a node calls; empty if it calls none."""
        if not isinstance(node, ast.Call):
            return ""
        if isinstance(node.func, ast.Attribute) and self._is_module(node.func.value):
            return node.func.attr
        return self._functions.get(node.func.id, "") if isinstance(node.func, ast.Name) else ""

    def calls_in(self, node: ast.AST) -> list[ast.Call]:
        """The calls of the module's functions in a node."""
        return [one for one in ast.walk(node) if isinstance(one, ast.Call) and self.function(one)]


def calls_of(tree: ast.Module, module: ModuleNames) -> Calls:
    """What the file's entry calls, or its only call; raises NotLiftedError."""
    try:
        return _calls_of(tree, module)
    except RecursionError as error:
        raise NotLiftedError("its calls are too deep inside other statements") from error


def _calls_of(tree: ast.Module, module: ModuleNames) -> Calls:
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    entries = [one for one in functions if one.name in ENTRIES and module.calls_in(one)]
    if entries and len(entries[0].args.args) == 1:
        return _Reader(entries[0], module).read()
    found = module.calls_in(entries[0] if entries else tree)
    if not found:
        raise NotLiftedError(f"no function of `{module}` is called")
    if len(found) > 1:
        said = ", ".join(sorted({f"`{module.function(one)}`" for one in found}))
        raise NotLiftedError(f"line {found[1].lineno}: `{module}` is called {len(found)} times ({said})")
    _by_place(found[0])
    return Calls([Call(module.function(found[0]), Everything)])


def _by_place(call: ast.Call) -> None:
    if call.keywords:
        named = f"{call.keywords[0].arg}=" if call.keywords[0].arg else "**"
        raise NotLiftedError(f"line {call.lineno}: `{named}` is passed by name: pass it by its place")


@dataclass(frozen=True)
class _Result:
    """What a call returned."""

    call: int


class _Reader:
    """Follows the statements of a function whose one parameter is the data."""

    def __init__(self, owner: ast.FunctionDef, module: ModuleNames) -> None:
        self._owner = owner
        self._module = module
        self._known = _Known(owner.args.args[0].arg)
        self._calls: list[Call] = []
        self._outputs: dict[int, int] = {}
        self._returns = False
        self._decisive = _around(owner, lambda one: isinstance(one, ast.Return) or bool(module.function(one)))

    def read(self) -> Calls:
        self._block(self._owner.body, ())
        # Without a returned value, new tensors are the outputs in their order.
        outputs = self._outputs if self._returns else {at: at for at in range(len(self._known.made))}
        scratch = [at for at in range(len(self._known.made)) if at not in outputs]
        places: dict[Argument, Argument] = {New(at): New(output) for at, output in outputs.items()}
        places |= {New(at): Scratch(place) for place, at in enumerate(scratch)}
        calls = [
            replace(one, arguments=one.arguments and [_placed(each, places) for each in one.arguments])
            for one in self._calls
        ]
        used = {each for one in calls for argument in one.arguments or () for each in _within(argument)}
        made = [
            self._known.made_by(at) if Scratch(place) in used else Computed(("at::Tensor()",))
            for place, at in enumerate(scratch)
        ]
        return Calls(calls, made)

    def _block(self, statements: Sequence[ast.stmt], conditions: tuple[Computed, ...]) -> tuple[Computed, ...] | None:
        """Follow statements; returns the conditions of what comes behind them, None if nothing does."""
        left: tuple[Computed, ...] | None = conditions
        for one in statements:
            if left is None:
                return None
            left = self._statement(one, left)
        return left

    def _statement(self, one: ast.stmt, conditions: tuple[Computed, ...]) -> tuple[Computed, ...] | None:
        match one:
            case ast.Return(value=value):
                self._return(value, conditions)
                return None
            case ast.Expr(value=ast.Call() as call) if self._module.function(call):
                self._call(call, conditions)
            case ast.Assign(targets=[target], value=ast.Call() as call) if self._module.function(call):
                self._call(call, conditions)
                self._known.keep(target, _Result(len(self._calls) - 1))
            case ast.Assign(targets=[target], value=value) if value not in self._decisive:
                self._known.assign(target, value)
            case ast.If() if one in self._decisive:
                return self._branches(one, conditions)
            case ast.With(body=body):
                return self._block(body, conditions)
            case _ if one in self._decisive:
                raise NotLiftedError(f"line {one.lineno}: calls in this statement cannot be followed")
            case _:
                self._known.forget_assigned(one)
        return conditions

    def _branches(self, one: ast.If, conditions: tuple[Computed, ...]) -> tuple[Computed, ...] | None:
        test = self._known.condition(one.test)
        before = self._known.copied()
        holds = self._block(one.body, (*conditions, test))
        behind, self._known.names = self._known.names, before
        fails = self._block(one.orelse, (*conditions, Computed(("!(", test, ")"))))
        if holds is None or fails is None:
            self._known.names = behind if fails is None else self._known.names
            return holds if fails is None else fails
        self._known.names = {name: what for name, what in behind.items() if self._known.names.get(name) == what}
        if (len(holds), len(fails)) == (len(conditions) + 1,) * 2:
            return conditions
        return (Computed((_all(holds), " || ", _all(fails))),)

    def _call(self, call: ast.Call, conditions: tuple[Computed, ...], *, is_returned: bool = False) -> None:
        _by_place(call)
        if len(self._calls) == _MOST_CALLS:
            raise NotLiftedError(f"line {call.lineno}: `{self._module}` is called more than {_MOST_CALLS} times")
        function, arguments = self._module.function(call), self._arguments(call)
        self._calls.append(Call(function, arguments, conditions, is_returned))

    def _arguments(self, call: ast.Call) -> list[Argument] | None:
        arguments: list[Argument] = []
        for one in call.args:
            if isinstance(one, ast.Starred):
                if name_of(one.value) != self._known.data:
                    raise _unknown(one)
                return Everything
            arguments.append(self._known.argument(one))
        return arguments

    def _return(self, value: ast.expr | None, conditions: tuple[Computed, ...]) -> None:
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            return
        self._returns = True
        if isinstance(value, ast.Call) and self._module.function(value):
            self._call(value, conditions, is_returned=True)
            return
        for place, one in enumerate(value.elts if isinstance(value, ast.Tuple | ast.List) else [value]):
            self._output(one, place)

    def _output(self, one: ast.expr, place: int) -> None:
        while isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _SAME_BYTES:
            one = one.func.value
        found = self._known.names.get(one.id) if isinstance(one, ast.Name) else None
        match found:
            case _Result(call=at):
                self._calls[at] = replace(self._calls[at], is_returned=True)
            case New(at=at) if self._outputs.setdefault(at, place) == place:
                pass
            case Data():
                pass
            case _ if name_of(one) == self._known.data or isinstance(one, ast.Subscript):
                self._known.argument(one)
            case _:
                raise _unknown(one)


def _around(root: ast.AST, is_wanted: Callable[[ast.AST], bool]) -> set[ast.AST]:
    """The wanted nodes and all that they are in."""
    parents = {child: one for one in ast.walk(root) for child in ast.iter_child_nodes(one)}
    found: set[ast.AST] = set()
    for one in filter(is_wanted, parents):
        at: ast.AST | None = one
        while at is not None and at not in found:
            found.add(at)
            at = parents.get(at)
    return found


def _all(conditions: Sequence[Computed]) -> Computed:
    parts: list[str | Argument] = ["("]
    for at, one in enumerate(conditions):
        parts += [" && " if at else "", "(", one, ")"]
    return Computed((*parts, ")"))


def _placed(argument: Argument, places: dict[Argument, Argument]) -> Argument:
    if isinstance(argument, Computed):
        return Computed(tuple(one if isinstance(one, str) else _placed(one, places) for one in argument.parts))
    return places.get(argument, argument)


def _within(argument: Argument) -> Iterator[Argument]:
    yield argument
    if isinstance(argument, Computed):
        for one in argument.parts:
            if not isinstance(one, str):
                yield from _within(one)


class _Known:
    """What the names of a function stand for, whose parameter `data` is the data."""

    def __init__(self, data: str) -> None:
        self.data = data
        self.names: dict[str, Argument | _Result] = {}
        self.made: list[tuple[ast.Call, dict[str, Argument | _Result]]] = []
        """The calls that make new tensors, and what was known then."""

    def copied(self) -> dict[str, Argument | _Result]:
        return dict(self.names)

    def keep(self, target: ast.expr, what: Argument | _Result) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = what
        else:
            self.forget_assigned(target)

    def forget_assigned(self, node: ast.AST) -> None:
        """Forget the names that a statement may have changed; if it only packs one, it stands for that."""
        for one in ast.walk(node):
            if isinstance(one, ast.Assign) and len(one.targets) == 1 and self._only_packs(one):
                self.assign(one.targets[0], one.value)
            elif isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                for name in (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)):
                    self.names.pop(name, None)

    def _only_packs(self, one: ast.Assign) -> bool:
        match one.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="contiguous")):
                return name == name_of(one.targets[0])
            case _:
                return False

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            self._unpack(target.elts, value)
            return
        if not isinstance(target, ast.Name):
            return
        if isinstance(value, ast.Call) and name_of(value.func) in _NEW:
            self.made.append((value, self.copied()))
            self.names[target.id] = New(len(self.made) - 1)
            return
        try:
            self.names[target.id] = self.argument(value)
        except NotLiftedError:
            self.names.pop(target.id, None)

    def _unpack(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        for at, one in enumerate(targets):
            match value:
                case ast.Name(id=name) if name == self.data:
                    self.names[name_of(one)] = Data(at)
                case ast.Attribute(value=ast.Name(id=name), attr="shape") if isinstance(
                    tensor := self.names.get(name), Data
                ):
                    self.names[name_of(one)] = Extent(tensor.at, at)
                case ast.Tuple(elts=values) if len(values) == len(targets):
                    self.assign(one, values[at])
                case _:
                    self.names.pop(name_of(one), None)

    def made_by(self, at: int) -> Computed:
        """C++ that makes a new tensor; raises NotLiftedError if its sizes are not known."""
        call, names = self.made[at]
        then = _Known(self.data)
        then.names = names
        dtype = next((one.value for one in call.keywords if one.arg == "dtype"), None)
        kind = f"at::k{name_of(dtype).capitalize()}" if dtype is not None and name_of(dtype) in _DTYPES else ""
        if kind:
            kind = {"at::kBfloat16": "at::kBFloat16", "at::kUint8": "at::kUInt8"}.get(kind, kind)
        maker = name_of(call.func)
        if maker in _LIKE and len(call.args) == 1 and (dtype is None or kind):
            options: tuple[str, ...] = (f", at::TensorOptions({kind})",) if kind else ()
            return Computed((f"at::{maker}(", then.argument(call.args[0]), *options, ")"))
        if maker not in _SIZED or (dtype is not None and not kind):
            raise _unknown(call)
        sizes = (
            call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List) else call.args
        )
        parts: list[str | Argument] = [f"at::{maker}({{"]
        for one in sizes:
            parts += [then.number(one), ", "]
        return Computed((*parts, f"}}, {kind or 'at::kFloat'})"))

    def number(self, node: ast.expr) -> Argument:
        """A number, a size, or what is computed from them; raises NotLiftedError."""
        found = self.argument(node)
        if not all(isinstance(one, Extent | Number | Computed) for one in _within(found)):
            raise _unknown(node)
        return found

    def condition(self, node: ast.expr) -> Computed:
        """A condition about sizes; raises NotLiftedError."""
        match node:
            case ast.BoolOp(op=op, values=values):
                joined = " && " if isinstance(op, ast.And) else " || "
                parts: list[str | Argument] = ["("]
                for at, one in enumerate(values):
                    parts += [joined if at else "", self.condition(one)]
                return Computed((*parts, ")"))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Computed(("!", self.condition(operand)))
            case ast.Compare(left=ast.Tuple(elts=left), ops=[ast.Eq()], comparators=[ast.Tuple(elts=right)]) if len(
                left
            ) == len(right):
                pairs = zip(left, right, strict=True)
                return self.condition(ast.BoolOp(ast.And(), [ast.Compare(a, [ast.Eq()], [b]) for a, b in pairs]))
            case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple() | ast.List() | ast.Set() as several]):
                return self.condition(
                    ast.BoolOp(ast.Or(), [ast.Compare(left, [ast.Eq()], [one]) for one in several.elts])
                )
            case ast.Compare(left=left, ops=ops, comparators=right) if all(type(op) in _COMPARISONS for op in ops):
                terms = [left, *right]
                parts = ["("]
                for at, op in enumerate(ops):
                    parts += [" && " if at else "", self.number(terms[at]), f" {_COMPARISONS[type(op)]} "]
                    parts.append(self.number(terms[at + 1]))
                return Computed((*parts, ")"))
            case _:
                raise _unknown(node)

    def argument(self, node: ast.expr) -> Argument:  # noqa: C901, PLR0911, PLR0912  one for each form of an argument
        """What is passed; raises NotLiftedError."""
        match node:
            case ast.Name(id=name) if name == self.data:
                return Data(0)
            case ast.Name(id=name) if not isinstance(found := self.names.get(name), _Result | None):
                return found
            case ast.Constant(value=bool() | int() | float() as number) if -LARGEST <= number <= LARGEST:
                return Number(number)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(at))) if name == self.data:
                return Data(at)
            case ast.Call(func=ast.Attribute(value=tensor, attr="contiguous"), args=[]):
                return self._packed(tensor)
            case ast.Attribute(value=tensor, attr="T") | ast.Call(func=ast.Attribute(value=tensor, attr="t"), args=[]):
                return Computed((self._tensor(tensor), ".t()"))
            case ast.Call(func=ast.Attribute(value=tensor, attr="data_ptr"), args=[]):
                return Computed(("reinterpret_cast<int64_t>(", self._tensor(tensor), ".data_ptr())"))
            case ast.Call(func=ast.Attribute(value=tensor, attr="numel"), args=[]):
                return Extent(self._data_of(tensor), None)
            case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[ast.Constant(value=int(at))]):
                return Extent(self._data_of(tensor), at)
            case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=ast.Constant(value=int(at))):
                return Extent(self._data_of(tensor), at)
            case ast.Subscript(
                value=ast.Attribute(value=tensor, attr="shape"),
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(at))),
            ):
                return Extent(self._data_of(tensor), -at)
            case ast.Call(func=ast.Name(id="int" | "float"), args=[value]):
                return self.argument(value)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._arithmetic(node, left, _OPERATORS[type(op)], right)
            case _:
                raise _unknown(node)

    def _arithmetic(self, whole: ast.expr, left: ast.expr, sign: str, right: ast.expr) -> Argument:
        found = self.argument(left), self.argument(right)
        if not all(isinstance(each, Extent | Number | Computed) for one in found for each in _within(one)):
            raise _unknown(whole)
        return Computed(("(", found[0], f" {sign} ", found[1], ")"))

    def _packed(self, tensor: ast.expr) -> Argument:
        found = self.argument(tensor)
        if isinstance(found, Data):
            return Data(found.at, is_packed=True)
        return Computed((found, ".contiguous()")) if isinstance(found, Computed) else found

    def _tensor(self, node: ast.expr) -> Argument:
        found = self.argument(node)
        if isinstance(found, Extent | Number):
            raise _unknown(node)
        return found

    def _data_of(self, tensor: ast.expr) -> int:
        found = self.argument(tensor)
        if not isinstance(found, Data):
            raise _unknown(tensor)
        return found.at


def _unknown(node: ast.expr) -> NotLiftedError:
    try:
        what = f"`{ast.unparse(node)[:_MOST_SHOWN]}`"
    except (ValueError, RecursionError):
        # An integer of more digits than Python writes, or something nested as deep as its parser goes.
        what = "this argument"
    return NotLiftedError(
        f"line {node.lineno}: {what} is computed by Python; only data, sizes and numbers can be passed"
    )
