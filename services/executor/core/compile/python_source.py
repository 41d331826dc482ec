"""The HIP source in a Python file that gives it to torch's `load_inline`, and the call that the file makes of it.

The file is only read, by its syntax tree, and never run. Strings may be put together by `+`, f-strings of other
strings, `.strip()` and `textwrap.dedent`. Of `custom_kernel` only its one call of the module counts, whose arguments
must be parts of the data, sizes of them, numbers, or new tensors.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_LOADERS = frozenset({"load_inline", "compile_inline"})
_LOADER_FIELDS = ("name", "cpp_sources", "cuda_sources", "functions")
_ENTRIES = ("custom_kernel", "solve", "solution")
"""Functions that contests call."""
_MOST_SHOWN = 60
_MOST_CHARACTERS = 128 << 10
"""Of a Python file, and of the strings that it puts together. Contest solutions have a tenth of it."""
_NEW = frozenset({"empty", "zeros", "empty_like", "zeros_like", "empty_strided"})


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
class Extent:
    """A size of a tensor of the data; all its elements if `dimension` is None."""

    at: int
    dimension: int | None


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float


Argument = Data | New | Extent | Number
Everything = None
"""All tensors of the data, in order."""


@dataclass(frozen=True)
class Lifted:
    """The HIP source of a Python file, the function of it that is called, and the arguments, if they are known."""

    source: str
    function: str
    arguments: Sequence[Argument] | None


def is_python(source: str) -> bool:
    """True if the source is Python; C++ never is, but for a file of comments."""
    tree = _parsed(source)
    return tree is not None and any(
        isinstance(one, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef) for one in tree.body
    )


def lifted(source: str) -> Lifted:
    """The HIP source of a Python source; raises NotLiftedError."""
    tree = _parsed(source)
    if tree is None:
        raise NotLiftedError("it cannot be read")
    texts = _Texts(tree)
    call, name = _loader(tree)
    fields = dict(zip(_LOADER_FIELDS, call.args, strict=False)) | {
        one.arg: one.value for one in call.keywords if one.arg is not None
    }
    parts = [texts.of(fields[field]) for field in ("cpp_sources", "cuda_sources") if field in fields]
    hip = "".join(f"{text}\n" for part in parts for text in part)
    if "__global__" not in hip:
        raise NotLiftedError(f"line {call.lineno}: the text that is given to load_inline has no kernel")
    called, owner = _called(tree, name)
    return Lifted(hip, called.func.attr, _arguments(called, owner))  # type: ignore[union-attr]  it is an attribute


def _parsed(source: str) -> ast.Module | None:
    # The tree of 1 MiB takes seconds and hundreds of MiB, in the process that other runs share.
    if len(source) > _MOST_CHARACTERS:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _loader(tree: ast.Module) -> tuple[ast.Call, str]:
    """The call of load_inline and the name that its result gets."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and _name(one.value.func) in _LOADERS:
            return one.value, _name(one.targets[0])
    raise NotLiftedError("it has no module of torch's load_inline")


def _name(node: ast.AST) -> str:
    """The last word of a name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class _Texts:
    """The strings of a file, by the names that they are assigned to."""

    def __init__(self, tree: ast.Module) -> None:
        assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
        self._values: Mapping[str, ast.expr] = {
            _name(target): one.value
            for one in assigned
            if one.value is not None
            for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
            if _name(target)
        }

        self._left = _MOST_CHARACTERS

    def of(self, node: ast.expr, depth: int = 0) -> list[str]:
        """The texts of an expression, which may be a list of them; raises NotLiftedError."""
        self._spend(1)
        if isinstance(node, ast.Name) and node.id in self._values and depth < _DEEPEST:
            return self.of(self._values[node.id], depth + 1)
        if isinstance(node, ast.List | ast.Tuple):
            return [text for one in node.elts for text in self.of(one, depth + 1)]
        return [self._text(node, depth)]

    def _text(self, node: ast.expr, depth: int) -> str:  # noqa: C901, PLR0911  one for each form of a string
        if depth > _DEEPEST:
            raise NotLiftedError("its strings are put together from too many parts")
        self._spend(1)
        match node:
            case ast.Constant(value=str(text)):
                self._spend(len(text))
                # The compiler's lines are then those of the Python file, unless a line ends in the middle of a part.
                return f'\n#line {node.lineno} "solution.hip"\n{text}' if "\n" in text else text
            case ast.Constant(value=int() | float() as number) if -_LARGEST <= number <= _LARGEST:
                return str(number)
            case ast.Name(id=name) if name in self._values:
                return self._text(self._values[name], depth + 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._text(left, depth + 1) + self._text(right, depth + 1)
            case ast.JoinedStr(values=values):
                return "".join(self._text(one, depth + 1) for one in values)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._text(value, depth + 1)
            case ast.Call(func=ast.Attribute(value=value, attr="strip"), args=[]):
                return f"{self._text(value, depth + 1).strip()}\n"
            case ast.Call(func=ast.Attribute(attr="dedent") | ast.Name(id="dedent"), args=[value]):
                return textwrap.dedent(self._text(value, depth + 1))
            case _:
                raise NotLiftedError(f"line {node.lineno}: this string is made by code: write it as one string")

    def _spend(self, characters: int) -> None:
        """Count what is put together: a few names that each stand for the one before twice would fill the memory."""
        self._left -= characters
        if self._left < 0:
            raise NotLiftedError("its strings are too long together")


_DEEPEST = 100
_LARGEST = 2.0**64


def _called(tree: ast.Module, module: str) -> tuple[ast.Call, ast.FunctionDef | None]:
    """The one call of the module's function, and the function of the file that makes it."""
    found = [(call, owner) for call, owner in _calls(tree) if _is_of(call, module)]
    entered = [(call, owner) for call, owner in found if owner is not None and owner.name in _ENTRIES]
    calls = entered or found
    names = {_name(call.func) for call, _ in calls}
    if not calls:
        raise NotLiftedError(f"no function of `{module}` is called")
    if len(calls) > 1:
        said = ", ".join(sorted(f"`{name}`" for name in names))
        raise NotLiftedError(f"line {calls[1][0].lineno}: `{module}` is called {len(calls)} times ({said})")
    return calls[0]


def _is_of(call: ast.Call, module: str) -> bool:
    return isinstance(call.func, ast.Attribute) and _name(call.func.value) == module


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    inside: dict[ast.AST, ast.FunctionDef] = {}
    for function in functions:
        inside.update(dict.fromkeys(ast.walk(function), function))
    for one in ast.walk(tree):
        if isinstance(one, ast.Call):
            yield one, inside.get(one)


def _arguments(call: ast.Call, owner: ast.FunctionDef | None) -> list[Argument] | None:
    """The arguments of the call; None if the function that makes it does not get the data itself."""
    if call.keywords:
        named = f"{call.keywords[0].arg}=" if call.keywords[0].arg else "**"
        raise NotLiftedError(f"line {call.lineno}: `{named}` is passed by name: pass it by its place")
    if owner is None or owner.name not in _ENTRIES or len(owner.args.args) != 1:
        return Everything
    known = _Known(owner)
    arguments: list[Argument] = []
    for one in call.args:
        if isinstance(one, ast.Starred):
            if _name(one.value) != known.data:
                raise _unknown(one)
            return Everything
        arguments.append(known.argument(one))
    return arguments


class _Known:
    """What the names of a function stand for, whose one parameter is the data."""

    def __init__(self, owner: ast.FunctionDef) -> None:
        self.data = owner.args.args[0].arg
        self._names: dict[str, Argument] = {}
        self._new = 0
        for one in ast.walk(owner):
            if isinstance(one, ast.Assign) and len(one.targets) == 1:
                self._assign(one.targets[0], one.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            self._unpack(target.elts, value)
            return
        if not isinstance(target, ast.Name):
            return
        if isinstance(value, ast.Call) and _name(value.func) in _NEW:
            self._names[target.id] = New(self._new)
            self._new += 1
            return
        try:
            self._names[target.id] = self.argument(value)
        except NotLiftedError:
            self._names.pop(target.id, None)

    def _unpack(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        for at, one in enumerate(targets):
            match value:
                case ast.Name(id=name) if name == self.data:
                    self._names[_name(one)] = Data(at)
                case ast.Attribute(value=ast.Name(id=name), attr="shape") if isinstance(
                    tensor := self._names.get(name), Data
                ):
                    self._names[_name(one)] = Extent(tensor.at, at)
                case ast.Tuple(elts=values) if len(values) == len(targets):
                    self._assign(one, values[at])
                case _:
                    self._names.pop(_name(one), None)

    def argument(self, node: ast.expr) -> Argument:  # noqa: C901, PLR0911  one for each form of an argument
        """What is passed; raises NotLiftedError."""
        match node:
            case ast.Name(id=name) if name == self.data:
                return Data(0)
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.Constant(value=bool() | int() | float() as number) if -_LARGEST <= number <= _LARGEST:
                return Number(number)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(at))) if name == self.data:
                return Data(at)
            case ast.Call(func=ast.Attribute(value=tensor, attr="contiguous"), args=[]):
                return self._packed(tensor)
            case ast.Call(func=ast.Attribute(value=tensor, attr="numel"), args=[]):
                return Extent(self._data_of(tensor), None)
            case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[ast.Constant(value=int(at))]):
                return Extent(self._data_of(tensor), at)
            case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=ast.Constant(value=int(at))):
                return Extent(self._data_of(tensor), at)
            case ast.Call(func=ast.Name(id="int" | "float"), args=[value]):
                return self.argument(value)
            case _:
                raise _unknown(node)

    def _packed(self, tensor: ast.expr) -> Argument:
        found = self.argument(tensor)
        return Data(found.at, is_packed=True) if isinstance(found, Data) else found

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


def uses_triton(source: str) -> bool:
    """True if a Python source imports Triton."""
    tree = _parsed(source)
    imports = [one for one in ast.walk(tree or ast.Module([], [])) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {alias.name for one in imports if isinstance(one, ast.Import) for alias in one.names}
    names |= {one.module or "" for one in imports if isinstance(one, ast.ImportFrom)}
    return any(name.partition(".")[0] == "triton" for name in names)
