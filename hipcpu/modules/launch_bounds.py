"""The most threads of a block that a kernel's `__launch_bounds__` allow.

Clang ignores them for a processor, so `wavepool/qualifiers.h` also notes them as an annotation.
"""

from __future__ import annotations

import re

from hipcpu.ir.module import Module
from hipcpu.ir.text import plain

ANNOTATIONS = "@llvm.global.annotations"
_NOTE = "wavepool.launch_bounds"
_SYMBOL = r'(@(?:"[^"]*"|[\w$.]+))'
_ENTRY = re.compile(rf"\{{ ptr {_SYMBOL}, ptr {_SYMBOL}, ptr {_SYMBOL}, i32 \d+, ptr {_SYMBOL} \}}")
_THREADS = re.compile(r"\{ i32 (\d+) \}")


def launch_bounds_of(module: Module) -> dict[str, int]:
    """Return the bound of each kernel that has one, by the kernel's plain symbol without `@`."""
    if ANNOTATIONS not in module.variables:
        return {}
    bounds: dict[str, int] = {}
    for kernel, note, _, argument in _ENTRY.findall(module.variables[ANNOTATIONS].value):
        threads = _THREADS.fullmatch(module.variables[argument].value)
        # A source may have annotations of its own.
        if threads and module.variables[note].string == _NOTE:
            bounds[plain(kernel)[1:]] = int(threads[1])
    return bounds
