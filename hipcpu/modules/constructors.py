"""Module constructors as an `.init_array` section of our own.

llvmlite's code generator puts `llvm.global_ctors` into `.ctors`, which today's C libraries do not run.
"""

from __future__ import annotations

import re

from hipcpu.ir.ir_text import bracketed, split_list

_CONSTRUCTORS = re.compile(r"^@llvm\.global_ctors = appending global \[\d+ x [^\]]*\] (?=\[)(.*)$", re.MULTILINE)
_ENTRY = re.compile(r"\{ i32, ptr, ptr \} \{ i32 (\d+), ptr (.+), ptr .+ \}")


def with_init_array(text: str) -> str:
    """The module's text with its constructors, lowest priority number first, in `.init_array`."""
    return _CONSTRUCTORS.sub(lambda match: _init_array(match[1]), text)


def _init_array(entries: str) -> str:
    found = [_ENTRY.match(entry) for entry in split_list(bracketed(entries, 0))]
    ordered = sorted((int(match[1]), position, match[2]) for position, match in enumerate(found) if match)
    pointers = ", ".join(f"ptr {function}" for _, _, function in ordered)
    # Hidden rather than internal, which LLVM would drop as unused.
    return f'@__wp_constructors = hidden constant [{len(ordered)} x ptr] [{pointers}], section ".init_array", align 8'
