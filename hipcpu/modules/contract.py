"""Checks that a source defines what its kind of build needs, with a hint for each common mistake."""

from __future__ import annotations

import difflib
import re

from hipcpu.build_folder import BuildKind
from hipcpu.modules.host_module import HostModule

_MANGLED = "@_Z8solution"


def contract_violation(host: HostModule, kind: BuildKind) -> str | None:
    """Return why the host side does not fit its kind of build, or None if it does."""
    if kind is BuildKind.PROGRAM:
        return None if "@main" in host.functions else "a program needs a `main` function"
    if "@solution" in host.functions:
        return None
    if any(kernel.symbol == "solution" or kernel.symbol.startswith("_Z8solution") for kernel in host.kernels):
        return "`solution` is a kernel: a host function `solution` is needed that launches your kernel"
    if any(symbol.startswith(_MANGLED) for symbol in host.functions):
        return '`solution` is not extern "C": declare it as `extern "C" void solution(...)`'
    near = difflib.get_close_matches("solution", [_plain(symbol) for symbol in host.functions], n=1)
    meant = f"; `{near[0]}` has nearly that name" if near else ""
    return f'no function `solution` is defined: define `extern "C" void solution(...)`{meant}'


def line_of(violation: str, source: str) -> int | None:
    """Return the line of `source` that a contract's violation is about, or None."""
    name = "main" if "`main`" in violation else "solution"
    found = re.search(rf"\b{name}\s*\(", source)
    return source.count("\n", 0, found.start()) + 1 if found else None


def _plain(symbol: str) -> str:
    """Return the name in the source of a function that is in no namespace."""
    found = re.match(r"@_Z(\d+)(\w+)", symbol)
    return found[2][: int(found[1])] if found else symbol.removeprefix("@")
