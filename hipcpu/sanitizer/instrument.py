"""Writes a check beside each access to memory that other threads may see.

Left alone are private variables: what a pointer reaches that was computed from an `alloca`, or from a struct that was
passed by value. All else is checked when it runs, and the runtime says what the address belongs to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.ir.ir_text import Function, functions_of
from hipcpu.sanitizer.instructions import MemoryAccess, Operation, accesses_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hipcpu.sanitizer.source_lines import SourceLines

DECLARATIONS = """
declare void @__wp_check_read(ptr, i64, i64, i32, i32)
declare void @__wp_check_update(ptr, i64, i64, i32, i32)
declare void @__wp_before_store(ptr, i64, i64, i32, i32)
declare void @__wp_after_store()
declare void @__wp_check_fence()
"""
_CONSTANT = re.compile(r'^(@(?:"[^"]*"|[-\w$.]+)) = (?:[\w()]+ )*constant ', re.MULTILINE)
_ALLOCA = re.compile(r"^\s*(%\S+) = alloca ")
_DERIVED = re.compile(r"^\s*(%\S+) = (?:getelementptr|addrspacecast|bitcast)\b.*?\bptr (%[-\w.$]+)")
_BY_VALUE = re.compile(r"\b(?:byval|sret)\(")


def instrumented(text: str, lines: SourceLines) -> str:
    """The module's text with the checks, and the declarations that they need."""
    constants = frozenset(_CONSTANT.findall(text))
    for function in functions_of(text).values():
        body = list(_checked_body(function, lines, constants))
        text = text.replace(function.text, Function(function.symbol, function.header, tuple(body)).text, 1)
    return text + DECLARATIONS


def _checked_body(function: Function, lines: SourceLines, constants: frozenset[str]) -> Iterator[str]:
    private = {p.value for p in function.parameters if _BY_VALUE.search(p.declaration)}
    for instruction in function.body:
        private |= _private_result(instruction, private)
        accesses = [one for one in accesses_of(instruction) if one.pointer not in private | constants]
        yield from (_check(one, lines.of(instruction)) for one in accesses)
        yield instruction
        if any(one.operation is Operation.WRITE for one in accesses):
            yield "  call void @__wp_after_store()"


def _private_result(instruction: str, private: set[str]) -> set[str]:
    if found := _ALLOCA.match(instruction):
        return {found[1]}
    derived = _DERIVED.match(instruction)
    return {derived[1]} if derived and derived[2] in private else set()


def _check(access: MemoryAccess, line: int) -> str:
    if access.operation is Operation.FENCE:
        return "  call void @__wp_check_fence()"
    callee = {Operation.READ: "check_read", Operation.WRITE: "before_store", Operation.UPDATE: "check_update"}
    detail = int(access.fences) if access.operation is Operation.UPDATE else int(access.how)
    arguments = f"ptr {access.pointer}, i64 {access.size}, i64 {access.alignment}, i32 {detail}, i32 {line}"
    return f"  call void @__wp_{callee[access.operation]}({arguments})"
