"""The HIP source in a Python file that gives it to torch's `load_inline`, and the call that the file makes of it.

The file is only read, by its syntax tree, and never run. Strings may be put together by `+`, f-strings of other
strings, `.strip()`, `.replace()` and `textwrap.dedent`. `python_calls` reads what `custom_kernel` calls.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from services.executor.core.compile.python_calls import (
    LARGEST,
    Calls,
    ModuleNames,
    NotLiftedError,
    calls_of,
    name_of,
)

_LOADERS = frozenset({"load_inline", "compile_inline"})
_LOADER_FIELDS = ("name", "cpp_sources", "cuda_sources", "functions")
_MOST_CHARACTERS = 128 << 10
"""Of a Python file, and of the strings that it puts together. Contest solutions have a tenth of it."""


@dataclass(frozen=True)
class Lifted:
    """The HIP source of a Python file, and the calls of it that the file makes."""

    source: str
    made: Calls


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
    call = _loader(tree)
    fields = dict(zip(_LOADER_FIELDS, call.args, strict=False)) | {
        one.arg: one.value for one in call.keywords if one.arg is not None
    }
    parts = [texts.of(fields[field]) for field in ("cpp_sources", "cuda_sources") if field in fields]
    hip = "".join(f"{text}\n" for part in parts for text in part)
    if "__global__" not in hip:
        raise NotLiftedError(f"line {call.lineno}: the text that is given to load_inline has no kernel")
    return Lifted(hip, calls_of(tree, ModuleNames(tree, call)))


def _parsed(source: str) -> ast.Module | None:
    # The tree of 1 MiB takes seconds and hundreds of MiB, in the process that other runs share.
    if len(source) > _MOST_CHARACTERS:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _loader(tree: ast.Module) -> ast.Call:
    """The call of load_inline."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Call) and name_of(one.func) in _LOADERS:
            return one
    raise NotLiftedError("it has no module of torch's load_inline")


class _Texts:
    """The strings of a file, by the names that they are assigned to."""

    def __init__(self, tree: ast.Module) -> None:
        assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
        self._values: Mapping[str, ast.expr] = {
            name_of(target): one.value
            for one in assigned
            if one.value is not None
            for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
            if name_of(target)
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
            case ast.Constant(value=int() | float() as number) if -LARGEST <= number <= LARGEST:
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
            case ast.Call(func=ast.Attribute(value=value, attr="replace"), args=[old, new]):
                replaced = self._text(value, depth + 1).replace(self._text(old, depth + 1), self._text(new, depth + 1))
                self._spend(len(replaced))
                return replaced
            case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int(code))]) if 0 < code < _ASCII:
                return chr(code)
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
_ASCII = 128


def uses_triton(source: str) -> bool:
    """True if a Python source imports Triton."""
    tree = _parsed(source)
    imports = [one for one in ast.walk(tree or ast.Module([], [])) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {alias.name for one in imports if isinstance(one, ast.Import) for alias in one.names}
    names |= {one.module or "" for one in imports if isinstance(one, ast.ImportFrom)}
    return any(name.partition(".")[0] == "triton" for name in names)
