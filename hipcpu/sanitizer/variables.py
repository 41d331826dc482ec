"""Shared and device variables: a guard zone behind each, and the function that tells the runtime where they are.

@tile = ... global [64 x float] undef, align 16
@tile = ... global { [64 x float], [64 x i8] } { [64 x float] undef, [64 x i8] undef }, align 16
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipcpu.ir.ir_text import leading_type, split_list
from hipcpu.modules.device_module import DYNAMIC_SHARED
from hipcpu.sanitizer.instructions import size_of

GUARD_BYTES = 64
"""As `kVariableGuard` of `runtime/sanitizer/sanitizer_memory.cpp`."""
_VARIABLE = re.compile(
    r'^(@(?:"[^"]*"|[-\w$.]+)) = '
    r"((?:internal |dso_local |externally_initialized |thread_local\(localexec\) )*)global (.*)$",
    re.MULTILINE,
)
_DYNAMIC_NAME = "dynamic shared memory"
_SHARED, _DYNAMIC, _DEVICE = 1, 2, 0
_OURS = ("@__hip_cuid", "@__wp_", "@llvm.")


@dataclass(frozen=True)
class _Guarded:
    symbol: str
    name: str
    type: str
    kind: int


def with_guarded_variables(text: str) -> str:
    """The module's text with guard zones and with `__wp_list_variables`."""
    found: list[_Guarded] = []
    guarded = _VARIABLE.sub(lambda match: _guard(match, found), text)
    return guarded + _lister(found)


def source_name(symbol: str) -> str:
    """A variable's name in the source, from its symbol in C++: `_ZZ4scanPfE4tile` is `tile`."""
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


def _guard(match: re.Match[str], found: list[_Guarded]) -> str:
    symbol, qualifiers, rest = match[1], match[2], match[3]
    if symbol == DYNAMIC_SHARED:
        found.append(_Guarded(symbol, _DYNAMIC_NAME, leading_type(rest), _DYNAMIC))
        return match[0]
    # Texts may hold brackets, which would be read wrongly; a table of characters is not what runs over.
    if symbol.startswith(_OURS) or ' c"' in rest:
        return match[0]
    value, *attributes = split_list(rest)
    type_text = leading_type(value)
    guard = f"[{GUARD_BYTES} x i8]"
    kind = _SHARED if "thread_local" in qualifiers else _DEVICE
    found.append(_Guarded(symbol, source_name(symbol), type_text, kind))
    filling = "undef" if kind == _SHARED else "zeroinitializer"
    both = f"{{ {type_text}, {guard} }} {{ {value}, {guard} {filling} }}"
    return f"{symbol} = {qualifiers}global {', '.join([both, *attributes])}"


def _lister(found: list[_Guarded]) -> str:
    names = [
        f'@__wp_name.{n} = internal constant [{len(v.name) + 1} x i8] c"{v.name}\\00"' for n, v in enumerate(found)
    ]
    calls = [
        f"  call void %take(ptr @__wp_name.{n}, ptr {v.symbol}, i64 {size_of(v.type)}, i32 {v.kind})"
        for n, v in enumerate(found)
    ]
    lines = [*names, "define void @__wp_list_variables(ptr %take) {", *calls, "  ret void", "}"]
    return "\n" + "\n".join(lines) + "\n"
