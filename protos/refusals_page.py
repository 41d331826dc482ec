"""Writes docs/refusals.md, the table of what the services and the gateway refuse, from the code: `make protos`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import grpc
import httpx

from gateway.http.rpc_status import HTTP_STATUS
from services.billing import server as billing
from services.executor import server as executor
from services.scheduler import server as scheduler
from services.vmpool import server as vmpool
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
SHARED = ("submissions", "vocabulary")
"""Checks of several services, whose errors become those of a field."""
HEAD = f"""\
# What is refused

`{COMMAND}` (part of `make protos`) makes this page from the code. A test says when it is out of date.

An ellipsis stands for a value. "Retry time" says whether the answer has a time to try again (`RetryInfo` over gRPC,
`Retry-After` over HTTP): only then does waiting help by itself. Exit is the status of `wavepool`. HTTP shows faults of
fields as `errors` of the problem, under the request's own names. vmpool's and the executor's rows reach users only
through the scheduler and the gateway. Messages of other programs (a provider, sshd, a compiler) are not here.
"""
_FIELD = re.compile(r"[a-z_…]+(\.[a-z_…]+)*")
_FAULT = re.compile(r"(…? ?|[^.]* )(is|are|has|have|must|may|cannot|needs?|names?|give|leave|was|takes|would) ")
_CLEAR_FAULT = re.compile(r"(is|has|must|needs|cannot|names|was) ")
"""How the fault of a field begins, whose name the code has or computes; other pairs of texts are not of fields."""
_WAITS = "yes"


class Row(NamedTuple):
    """A refusal: the field, the text, and the statuses."""

    field: str
    text: str
    code: str
    http: int
    waits: str


class _Kind(NamedTuple):
    """An error of a service: its status, whether it has a time to try again, and its text if its class has one."""

    code: grpc.StatusCode
    waits: bool
    text: str


def page() -> str:
    """The whole page."""
    found = {name: sorted(set(_rows_of(name))) for name in SERVICES}
    found["submissions"] = sorted({row for name in SHARED for tree in _trees(ROOT / name) for row in _of_fields(tree)})
    found["gateway"] = sorted(set(_problems()))
    return HEAD + "".join(_section(name, rows) for name, rows in found.items())


def _section(name: str, rows: list[Row]) -> str:
    lines = ["| field | text | gRPC | HTTP | exit | retry time |", "|---|---|---|---|---|---|"]
    for row in rows:
        text = row.text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
        field = f"`{row.field}`" if row.field else ""
        lines.append(f"| {field} | {text} | {row.code} | {row.http} | {_exit_of(row.http)} | {row.waits} |")
    return f"\n## {name}\n\n" + "\n".join(lines) + "\n"


def _exit_of(status: int) -> int:
    return int(failure_of(httpx.Response(status, request=httpx.Request("GET", "http://here"))).exit_code)


def _rows_of(service: str) -> Iterator[Row]:
    kinds = {kind.__name__: _kind(kind, code) for kind, code in _errors_of(service)}
    for tree in _trees(ROOT / "services" / service):
        names = _texts_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (kind := kinds.get(_name(node.func))):
                yield from _raised(kind, [_text(one, names) for one in node.args])
        yield from _of_fields(tree)


def _of_fields(tree: ast.Module) -> Iterator[Row]:
    """Each pair of a field and its fault."""
    names, code = _texts_of(tree), grpc.StatusCode.INVALID_ARGUMENT
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:  # noqa: PLR2004 - a field and its fault
            field, text = (_text(one, names) for one in node.elts)
            fault = _CLEAR_FAULT if field == "…" else _FAULT
            if _FIELD.fullmatch(field) and text.count(" ") > 1 and fault.match(text):
                yield Row(field, text, code.name, HTTP_STATUS[code], "no")


def _raised(kind: _Kind, said: list[str]) -> Iterator[Row]:
    waits = _WAITS if kind.waits or kind.code is grpc.StatusCode.UNAVAILABLE else "no"
    status = HTTP_STATUS.get(kind.code, 500)
    if kind.text:
        yield Row("", kind.text, kind.code.name, status, waits)
    elif said and said[-1].count(" ") > 1:
        field = said[0] if len(said) > 1 and _FIELD.fullmatch(said[0]) else ""
        yield Row(field, said[-1], kind.code.name, status, waits)


def _errors_of(service: str) -> Iterator[tuple[type[Exception], grpc.StatusCode]]:
    """Each class of the service's map, and each class below one that has no entry of its own."""
    found = SERVICES[service]
    left = list(found.items())
    while left:
        kind, code = left.pop()
        yield kind, code
        left += [(below, code) for below in kind.__subclasses__() if below not in found]


def _kind(kind: type[Exception], code: grpc.StatusCode) -> _Kind:
    tree = ast.parse(Path(inspect.getfile(kind)).read_text(encoding="utf-8"))
    body = next(one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == kind.__name__)
    names, text = _texts_of(tree), ""
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and _name(node.func) == "__init__" and node.args:
            text = _text(node.args[0], names)
    own = {_name(one) for one in ast.walk(body) if isinstance(one, ast.Attribute | ast.Name)}
    return _Kind(code, "retry_after" in own, text if text.count(" ") > 1 else "")


def _problems() -> Iterator[Row]:
    for tree in _trees(ROOT / "gateway"):
        names = _texts_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in {"Problem", "body_problem"} and len(node.args) > 1:
                status, text = _status(node.args[0]), _text(node.args[1], names)
                if status and text.count(" ") > 1:
                    waits = any(one.arg == "retry_after_seconds" for one in node.keywords)
                    yield Row("", text, "", status, _WAITS if waits else "no")


def _status(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return int(getattr(HTTPStatus, _name(node), 0))


def _trees(folder: Path) -> Iterator[ast.Module]:
    for file in sorted(folder.rglob("*.py")):
        yield ast.parse(file.read_text(encoding="utf-8"))


def _texts_of(tree: ast.Module) -> dict[str, ast.expr]:
    """The expressions that are assigned to a name once, so that a text with a name is found."""
    assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    names = [_name(one.targets[0]) for one in assigned]
    return {name: one.value for name, one in zip(names, assigned, strict=True) if names.count(name) == 1}


def _text(node: ast.expr, names: Mapping[str, ast.expr], depth: int = 2) -> str:
    """The text that an expression gives, with an ellipsis for each value."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(_text(one, names, 0) for one in values)
        case ast.IfExp(body=body, orelse=other):
            return f"{_text(body, names)} / {_text(other, names)}"
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
