"""Writes docs/refusals.md, the table of what the services and the gateway refuse, from the code: `make protos`."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import grpc
import httpx

from gateway.http.rpc_status import HTTP_STATUS
from gateway.submissions.account_jobs import NOT_ENOUGH_CREDIT
from services.billing import errors as billing_errors
from services.billing import server as billing
from services.executor import server as executor
from services.scheduler import server as scheduler
from services.scheduler.jobs.errors import CreditRefusedError
from services.vmpool import server as vmpool
from wavepool_client import errors as client_errors
from wavepool_client.http.failures import failure_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "refusals.md"
COMMAND = "python protos/refusals_page.py"
SERVICES: Mapping[str, Mapping[type[Exception], grpc.StatusCode]] = {
    "scheduler": scheduler.ERROR_MAP,
    "billing": billing.ERROR_MAP,
    "vmpool": vmpool.ERROR_MAP,
    "executor": executor.ERROR_MAP,
}
NOT_PAID = (CreditRefusedError, billing_errors.NotCoveredError)
"""What HTTP answers with 402 instead of the status of its code."""
SHARED = ("submissions", "vocabulary")
"""Checks of several services, whose errors become those of a field."""
HEAD = f"""\
# What is refused

`{COMMAND}` (part of `make protos`) makes this page from the code. A test says when it is out of date.

An ellipsis stands for a value, and square brackets enclose what may be left out. Words in italics say what a refusal
is about, if its text comes from elsewhere. "Retry time" says whether the answer has a time to try again (`RetryInfo`
over gRPC, `Retry-After` over HTTP): only then does waiting help by itself. Exit is the status of `wavepool`. HTTP shows
faults of fields as `errors` of the problem, under the request's own names. vmpool's and the executor's rows reach users
only through the scheduler and the gateway. The last section has what `wavepool` refuses by itself, before it asks a
gateway or because of an answer. Messages of other programs (a provider, sshd, a compiler) are not here.
"""
_FIELD = re.compile(r"[a-z_…]+(\.[a-z_…]+)*")
_FAULT = re.compile(r"(…? ?|[^.]* )(is|are|has|have|must|may|cannot|needs?|names?|give|leave|was|takes|would) ")
_CLEAR_FAULT = re.compile(r"(is|has|must|needs|cannot|names|was) ")
"""How the fault of a field begins, whose name the code has or computes; other pairs of texts are not of fields."""
_NAMED = re.compile(r"((?:[a-z_]+\.)+[a-z_]+): (.*[^.])\.?", re.DOTALL)
_WAITS = "yes"


class Row(NamedTuple):
    """A refusal: the field, the text, and the statuses."""

    field: str
    text: str
    code: str
    http: int
    waits: str
    exit: int = 0
    """If it has no HTTP status."""


class _Maker(NamedTuple):
    """A function that makes a problem: its HTTP status, 0 if that is its first argument, and where its text stands."""

    status: int
    text: int


class _Kind(NamedTuple):
    """An error of a service: its statuses, whether it has a time to try again, and what its class says of it."""

    code: grpc.StatusCode
    http: int
    waits: bool
    field: str
    text: str
    about: str
    """The first sentence about it, for one whose text is made of others' words."""


def page() -> str:
    """The whole page."""
    found = {name: sorted(set(rows_of(name))) for name in SERVICES}
    found["submissions"] = sorted({row for name in SHARED for tree in _trees(ROOT / name) for row in _of_fields(tree)})
    found["gateway"] = sorted(set(_problems()))
    found["wavepool"] = sorted(set(_of_client()))
    return HEAD + "".join(_section(name, rows) for name, rows in found.items())


def _section(name: str, rows: list[Row]) -> str:
    lines = ["| field | text | gRPC | HTTP | exit | retry time |", "|---|---|---|---|---|---|"]
    for row in rows:
        text = row.text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
        field = f"`{row.field}`" if row.field else ""
        status = row.exit or _exit_of(row.http)
        lines.append(f"| {field} | {text} | {row.code} | {row.http or ''} | {status} | {row.waits} |")
    return f"\n## {name}\n\n" + "\n".join(lines) + "\n"


def _exit_of(status: int) -> int:
    return int(failure_of(httpx.Response(status, request=httpx.Request("GET", "http://here"))).exit_code)


def rows_of(service: str) -> Iterator[Row]:
    """What a service refuses, perhaps several times."""
    kinds = {kind.__name__: kind_of(kind, code) for kind, code in errors_of(service)}
    told = {name: kind for name, kind in kinds.items() if kind.text.count("…") < 2}  # noqa: PLR2004 - one word of a caller
    for kind in kinds.values():
        if kind.text and kind.text.count("…") != 1:
            yield from _raised(kind, [])
    for tree in _trees(ROOT / "services" / service):
        for node, names in _nodes(tree):
            if isinstance(node, ast.Call) and (kind := told.get(_name(node.func))):
                said = list(_raised(kind, [_text(one, names) for one in node.args]))
                yield from said or ([] if kind.code is grpc.StatusCode.INVALID_ARGUMENT else _about(kind))
        yield from _of_fields(tree)


def _about(kind: _Kind) -> Iterator[Row]:
    yield Row("", f"*{kind.about}.*", kind.code.name, kind.http, _WAITS if kind.waits else "no")


def _of_fields(tree: ast.Module) -> Iterator[Row]:
    """Each pair of a field and its fault, but of those of errors with statuses of their own."""
    code = grpc.StatusCode.INVALID_ARGUMENT
    for node, names in _nodes(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:  # noqa: PLR2004 - a field and its fault
            field, text = (_text(one, names) for one in node.elts)
            fault = _CLEAR_FAULT if field == "…" else _FAULT
            if _FIELD.fullmatch(field) and text.count(" ") > 1 and fault.match(text):
                yield Row(field, text, code.name, HTTP_STATUS[code], "no")


def _raised(kind: _Kind, said: list[str]) -> Iterator[Row]:
    waits = _WAITS if kind.waits or kind.code is grpc.StatusCode.UNAVAILABLE else "no"
    if kind.text:
        reason = said[0] if said and " " in said[0] else "…"
        yield Row(kind.field, kind.text.replace("…", reason, said != []), kind.code.name, kind.http, waits)
    elif said and said[-1].count(" ") > 1:
        field = said[0] if len(said) > 1 and _FIELD.fullmatch(said[0]) else ""
        yield Row(field, said[-1], kind.code.name, kind.http, waits)


def errors_of(service: str) -> Iterator[tuple[type[Exception], grpc.StatusCode]]:
    """Each class of the service's map, and each class below one that has no entry of its own."""
    found = SERVICES[service]
    left = list(found.items())
    while left:
        kind, code = left.pop()
        yield kind, code
        left += [(below, code) for below in kind.__subclasses__() if below not in found]


def kind_of(kind: type[Exception], code: grpc.StatusCode) -> _Kind:
    """What an error's class says of it."""
    tree = _tree(Path(inspect.getfile(kind)))
    body = next(one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == kind.__name__)
    field = text = ""
    for node, names in _within(body, _texts_of(tree) | _texts_of(body)):
        if isinstance(node, ast.Call) and _name(node.func) == "__init__" and node.args:
            said = [_text(one, names) for one in node.args]
            text = said[-1] if len(said) > 1 and _FIELD.fullmatch(said[0]) else said[0]
            field = said[0] if text != said[0] else ""
    own = {_name(one) for one in ast.walk(body) if isinstance(one, ast.Attribute | ast.Name)}
    if "violations" in own and (named := _NAMED.fullmatch(text)):
        field, text = named.groups()
    http = next(iter(NOT_ENOUGH_CREDIT.values())) if issubclass(kind, NOT_PAID) else HTTP_STATUS.get(code, 500)
    about = (inspect.getdoc(kind) or "").partition("\n")[0].partition("; `")[0].rstrip(".")
    return _Kind(code, http, "retry_after" in own, field, text if text.count(" ") > 1 else "", about)


def _of_client() -> Iterator[Row]:
    kinds = {
        name: kind.exit_code
        for name, kind in vars(client_errors).items()
        if inspect.isclass(kind) and issubclass(kind, client_errors.WavepoolError)
    }
    for tree in _trees(ROOT / "client" / "wavepool_client"):
        for node, names in _nodes(tree):
            if isinstance(node, ast.Call) and (status := kinds.get(_name(node.func))) and node.args:
                text = _text(node.args[0], names)
                if text.count(" ") > 1:
                    yield Row("", text, "", 0, "no", int(status))


def _problems() -> Iterator[Row]:
    for tree in _trees(ROOT / "gateway"):
        makers = dict(_makers(tree))
        for node, names in _nodes(tree):
            if isinstance(node, ast.Call) and (maker := makers.get(_name(node.func))) and len(node.args) > maker.text:
                status = maker.status or _status(node.args[0])
                text = _text(node.args[maker.text], names)
                if status and text.count(" ") > 1:
                    waits = any(one.arg == "retry_after_seconds" for one in node.keywords)
                    yield Row("", text, "", status, _WAITS if waits else "no")


def _makers(tree: ast.Module) -> Iterator[tuple[str, _Maker]]:
    """What makes a problem: the class, and functions of the module that give it a text of their caller's."""
    yield from {"Problem": _Maker(0, 1), "body_problem": _Maker(0, 1)}.items()
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _name(node.func) == "Problem" and len(node.args) > 1:
                texts = [one.arg for one in function.args.args]
                if (text := _name(node.args[1])) in texts:
                    yield function.name, _Maker(_status(node.args[0]), texts.index(text))


def _status(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return int(getattr(HTTPStatus, _name(node), 0))


def _trees(folder: Path) -> Iterator[ast.Module]:
    return map(_tree, sorted(folder.rglob("*.py")))


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _nodes(tree: ast.Module) -> list[tuple[ast.AST, Mapping[str, ast.expr]]]:
    """The nodes of a module, which several tables look through."""
    return [*_within(tree, _texts_of(tree))]


def _within(node: ast.AST, names: Mapping[str, ast.expr]) -> Iterator[tuple[ast.AST, Mapping[str, ast.expr]]]:
    """Each node, with what the names around it stand for; without what an error keeps of its own text."""
    left = [(node, names)]
    while left:
        node, names = left.pop()
        yield node, names
        if isinstance(node, ast.Assign) and _name(node.targets[0]) == "violations":
            continue
        own = {**names, **_texts_of(node)} if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else names
        left += [(child, own) for child in ast.iter_child_nodes(node)]


def _texts_of(tree: ast.AST) -> dict[str, ast.expr]:
    """The expressions that are assigned to a name once, so that a text with a name is found."""
    assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    names = [_name(one.targets[0]) for one in assigned]
    times = Counter(names)
    return {name: one.value for name, one in zip(names, assigned, strict=True) if times[name] == 1}


def _text(node: ast.expr, names: Mapping[str, ast.expr], depth: int = 2) -> str:  # noqa: PLR0911 - one for each form
    """The text that an expression gives, with an ellipsis for each value."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(_text(one, names, depth) for one in values)
        case ast.FormattedValue(value=ast.Name() as value, conversion=-1, format_spec=None):
            return _text(value, names, depth)
        case ast.IfExp(body=body, orelse=other):
            said = [_text(one, names, depth) for one in (body, other)]
            return " / ".join(said) if all(said) else f"[{''.join(said)}]"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, names) + _text(right, names)
        case ast.Name(id=name) if depth and name in names:
            return _text(names[name], names, depth - 1)
        case _:
            return "…"


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
