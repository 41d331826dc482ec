"""The kernel side's IR, made fit to be linked with the host side.

- Kernels are renamed: the host side's launch handles have the same symbols.
- Shared memory becomes thread-local, so that each worker has its own; all `extern __shared__` arrays are one array.
- `__constant__` variables become writable: the host copies into them.
- COMDATs go, since everything of this side becomes internal: the host side may hold other versions of the same
  inline functions.
- `noinline` goes: a kernel that contains all its code can be cut into loops.
- The instruction sets that clang wrote on each function go: the back end compiles for the processor that it runs on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.ir_text import SYMBOL, Function, functions_of, plain

if TYPE_CHECKING:
    from collections.abc import Collection

DYNAMIC_SHARED = "@__wp_dynamic_shared"
_SHARED_BYTES = 64 * 1024

_NAME = r'@(?:"[^"]*"|[-\w$.]+)'
_DYNAMIC = re.compile(rf"^({_NAME}) = external (?:dso_local )?global \[0 x .*$", re.MULTILINE)
_SHARED = re.compile(
    rf"^({_NAME}) = (?:[a-z_]+ )*global (.*) undef(?:, section \"[^\"]*\")?(?:, comdat(?:\([^)]*\))?)?(, align \d+)$",
    re.MULTILINE,
)
# `wavepool/vector_math.h` has an exponential that LLVM can inline and vectorise.
_EXPONENTIAL = ("@llvm.exp.f32", "@__wp_expf")
_UNUSED = "@__wp_unused"
_COMDAT_LINE = re.compile(r"^\$.* = comdat any\n", re.MULTILINE)
_COMDAT_USE = re.compile(r",? comdat(?:\(\$[^)]*\))?(?=[ ,]|$)", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^attributes #\d+ = .*$", re.MULTILINE)
_NOT_INLINED = re.compile(r" (?:noinline|optnone)\b")
_CPU_ATTRIBUTES = re.compile(
    r' "(?:target-cpu|target-features|tune-cpu|min-legal-vector-width|stack-protector-buffer-size)"="[^"]*"'
)
_CONSTANT = re.compile(r" externally_initialized constant ")
_ASSEMBLY = re.compile(r'\bcall .*\basm (?:sideeffect )?(?:alignstack )?(?:inteldialect )?"([^"]*)"')


@dataclass(frozen=True)
class DeviceModule:
    """The kernel side, ready for thunks to be appended to its text."""

    text: str
    functions: dict[str, Function]
    shared: frozenset[str]
    """The plain symbols of the static shared variables."""
    assembly: tuple[str, ...]
    """Inline assembly that the kernels contain, which cannot be AMD's here."""


def device_module_from_text(text: str, kernels: Collection[str]) -> DeviceModule:
    """Rewrite the unoptimised IR of the kernel pass; `kernels` are the symbol names, without `@`, of its kernels."""
    text = without_cpu_attributes(_COMDAT_LINE.sub("", text))
    dynamic = set(_DYNAMIC.findall(text))
    text = _DYNAMIC.sub("", text)
    shared = frozenset(plain(match[1]) for match in _SHARED.finditer(text))
    text = _SHARED.sub(r"\1 = internal thread_local(localexec) global \2 undef\3", text)
    text = _CONSTANT.sub(" externally_initialized global ", _without_comdats(text))
    text = _ATTRIBUTES.sub(lambda match: _NOT_INLINED.sub("", match[0]), text)
    renamed = {f"@{name}": kernel_symbol(name) for name in kernels}
    renamed.update(dict.fromkeys(map(plain, dynamic), DYNAMIC_SHARED))
    if _EXPONENTIAL[1] in functions_of(text):
        text = text.replace(f"declare float {_EXPONENTIAL[0]}(float)", f"declare float {_UNUSED}(float)")
        renamed[_EXPONENTIAL[0]] = _EXPONENTIAL[1]
    text = SYMBOL.sub(lambda match: renamed.get(plain(match[0]), match[0]), text)
    text += f"\n{DYNAMIC_SHARED} = internal thread_local(localexec) global [{_SHARED_BYTES} x i8] undef, align 256\n"
    assembly = tuple(code for code in _ASSEMBLY.findall(text) if code)
    return DeviceModule(text, functions_of(text), shared, assembly)


def kernel_symbol(name: str) -> str:
    """The symbol, with its `@`, of the kernel called `name` after the renaming."""
    return f'@"__wp_kernel.{name}"'


def shared_variables_of(module: DeviceModule, symbol: str) -> set[str]:
    """The static shared variables that a function and everything it calls refer to."""
    return _reached(module, symbol) & module.shared


def uses_dynamic_shared(module: DeviceModule, symbol: str) -> bool:
    """Whether a function, or anything it calls, refers to dynamic shared memory."""
    return DYNAMIC_SHARED in _reached(module, symbol)


def _reached(module: DeviceModule, symbol: str) -> set[str]:
    seen: set[str] = set()
    waiting = [plain(symbol)]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in module.functions:
            waiting += map(plain, SYMBOL.findall("\n".join(module.functions[current].body)))
    return seen


def without_cpu_attributes(text: str) -> str:
    """Drop the processor that clang compiled for from every function."""
    return _CPU_ATTRIBUTES.sub("", text)


def _without_comdats(text: str) -> str:
    return "\n".join(
        _COMDAT_USE.sub("", line) if line.startswith(("define ", "@")) else line for line in text.splitlines()
    )
