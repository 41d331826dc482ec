"""Shared and device variables: a guard zone behind each, and a function that lists them for the runtime.

@tile = ... global [64 x float] undef, align 16
@tile = ... global { [64 x float], [64 x i8] } { [64 x float] undef, [64 x i8] undef }, align 16
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipcpu.ir.module import Global, Item, Module
from hipcpu.modules.device_module import DYNAMIC_SHARED
from hipcpu.sanitizer.instructions import size_of

GUARD_BYTES = 64
"""Size of a guard zone, as `kVariableGuard` of `runtime/sanitizer/sanitizer_memory.cpp`."""
_THREAD_LOCAL = "thread_local(localexec)"
_QUALIFIERS = frozenset(("internal", "dso_local", "externally_initialized", _THREAD_LOCAL))
_DYNAMIC_NAME = "dynamic shared memory"
_SHARED, _DYNAMIC, _DEVICE = 1, 2, 0
_OURS = ("@__hip_cuid", "@__wp_", "@llvm.")


@dataclass(frozen=True)
class _Guarded:
    symbol: str
    name: str
    type: str
    kind: int


def with_guarded_variables(module: Module) -> Module:
    """Return the module with guard zones and with `__wp_list_variables`."""
    found: list[_Guarded] = []
    return module.changed(lambda item: _guard(item, found)).followed_by(*_lister(found))


def source_name(symbol: str) -> str:
    """Return a variable's name in the source from its C++ symbol: `_ZZ4scanPfE4tile` is `tile`."""
    name = symbol.lstrip("@").strip('"')
    if not name.startswith("_Z"):
        return name
    for match in reversed(list(re.finditer(r"\d+", name))):
        rest = name[match.end() :]
        # The length may follow other digits: `Li1604tile` is 160 and then `4tile`.
        for start in range(len(match[0])):
            length = int(match[0][start:])
            if 0 < length <= len(rest) and re.fullmatch(r"[A-Za-z_]\w*", rest[:length]):
                return rest[:length]
    return name


def _guard(item: Item, found: list[_Guarded]) -> Item:
    if not isinstance(item, Global) or item.kind != "global" or not _QUALIFIERS.issuperset(item.qualifiers):
        return item
    if item.symbol == DYNAMIC_SHARED:
        found.append(_Guarded(item.symbol, _DYNAMIC_NAME, item.type, _DYNAMIC))
        return item
    # A table of characters needs no guard.
    if item.symbol.startswith(_OURS) or ' c"' in item.text:
        return item
    guard = f"[{GUARD_BYTES} x i8]"
    kind = _SHARED if _THREAD_LOCAL in item.qualifiers else _DEVICE
    found.append(_Guarded(item.symbol, source_name(item.symbol), item.type, kind))
    filling = "undef" if kind == _SHARED else "zeroinitializer"
    both = f"{{ {item.type}, {guard} }} {{ {item.type} {item.value}, {guard} {filling} }}"
    return Global.of(item.symbol, item.qualifiers, item.kind, [both, *item.attributes])


def _lister(found: list[_Guarded]) -> list[str]:
    names = [
        f'@__wp_name.{n} = internal constant [{len(v.name) + 1} x i8] c"{v.name}\\00"' for n, v in enumerate(found)
    ]
    calls = [
        f"  call void %take(ptr @__wp_name.{n}, ptr {v.symbol}, i64 {size_of(v.type)}, i32 {v.kind})"
        for n, v in enumerate(found)
    ]
    return [*names, "define void @__wp_list_variables(ptr %take) {", *calls, "  ret void", "}", ""]
