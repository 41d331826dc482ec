"""Prepares the kernel side's IR for linking with the host side.

- Kernels are renamed: the host side's launch handles have the same symbols.
- Shared memory becomes thread-local, so that each worker has its own; all `extern __shared__` arrays are one array.
- `__constant__` variables become writable: the host copies into them.
- Address spaces of AMD GPUs are removed from pointers that the source gave one: the host has one space for all.
- COMDATs are removed, since everything of this side becomes internal: the host side may hold other versions of the
  same inline functions.
- `noinline` is removed: a kernel that contains all its code can be cut into loops.
- The instruction sets that clang wrote on each function are removed: the back end compiles for this processor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hipcpu.front.diagnostics import SOURCE
from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.function import Function
from hipcpu.ir.module import Global, Item, Module, attribute_group_without
from hipcpu.ir.text import plain, unescaped
from hipcpu.modules.launch_bounds import ANNOTATIONS, launch_bounds_of

DYNAMIC_SHARED = "@__wp_dynamic_shared"
_SHARED_BYTES = 64 * 1024

# `wavepool/math/vector_math.h` has an exponential function that LLVM can inline and vectorise.
_EXPONENTIAL, _OUR_EXPONENTIAL = "@llvm.exp.f32", "@__wp_expf"
_DECLARED_EXPONENTIAL = f"declare float {_EXPONENTIAL}(float)"
# 256 and more are the host's own: segments.
_SPACE = re.compile(r"(?<=\bptr) addrspace\(\d{1,2}\)")
_REFUSED = "@__wp_refused_assembly"
_REFUSED_MODIFIERS = "@__wp_refused_modifiers"
_COMPILE_UNITS = "!llvm.dbg.cu"
_UNUSED = "declare float @__wp_unused(float)"
_NOT_INLINED = ("noinline", "optnone")
_CPU_ATTRIBUTES = tuple(
    f'"{name}"='
    for name in ("target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "stack-protector-buffer-size")
)


@dataclass(frozen=True)
class DeviceModule:
    """The kernel side, ready for thunks to be appended."""

    module: Module
    shared: frozenset[str]
    """Plain symbols of the static shared variables."""
    assembly: tuple[str, ...]
    """Inline assembly in the kernels, which cannot be AMD's here."""
    most_threads: Mapping[str, int]
    """Bounds of the blocks of kernels that have `__launch_bounds__`."""


def device_module_from_text(text: str, kernels: Collection[str]) -> DeviceModule:
    """Rewrite the unoptimised IR of the kernel pass; `kernels` are the symbols of its kernels, without `@`."""
    module = Module.from_text(_in_one_space(text.rstrip()))
    assembly = [one.assembly for each in module.functions.values() if each.has_assembly for one in each.instructions]
    variables = module.variables.items()
    renamed = {f"@{name}": kernel_symbol(name) for name in kernels}
    renamed |= {symbol: DYNAMIC_SHARED for symbol, variable in variables if _is_dynamic(variable)}
    own_exponential = _OUR_EXPONENTIAL in module.functions
    if own_exponential:
        renamed[_EXPONENTIAL] = _OUR_EXPONENTIAL

    def change(item: Item) -> Item | None:
        if isinstance(item, Function):
            return item.without_comdat()
        if isinstance(item, Global):
            if item.symbol == ANNOTATIONS:
                return None
            return "" if _is_dynamic(item) else _fitting(item)
        if item.startswith("$"):
            return None
        if own_exponential and item.startswith(_DECLARED_EXPONENTIAL):
            return item.replace(_DECLARED_EXPONENTIAL, _UNUSED)
        return attribute_group_without(item, *_NOT_INLINED, *_CPU_ATTRIBUTES)

    dynamic = f"{DYNAMIC_SHARED} = internal thread_local(localexec) global [{_SHARED_BYTES} x i8] undef, align 256"
    changed = module.changed(change).renamed(renamed).followed_by(dynamic, "")
    shared = frozenset(symbol for symbol, variable in variables if _is_shared(variable))
    return DeviceModule(changed, shared, tuple(filter(None, assembly)), launch_bounds_of(module))


def _in_one_space(text: str) -> str:
    if not _SPACE.search(text):
        return text
    return _SPACE.sub("", text).replace(" addrspacecast ", " bitcast ").replace("addrspacecast (", "bitcast (")


def _is_dynamic(variable: Global) -> bool:
    """Return True for an `extern __shared__` array."""
    return variable.qualifiers[:1] == ("external",) and variable.type.startswith("[0 x ")


def _is_shared(variable: Global) -> bool:
    return variable.kind == "global" and variable.value == "undef"


def _fitting(variable: Global) -> Global:
    qualifiers, kind = variable.qualifiers, variable.kind
    attributes = [each for each in variable.attributes if each != "comdat" and not each.startswith("comdat(")]
    if _is_shared(variable):
        qualifiers = ("internal", "thread_local(localexec)")
        attributes = [each for each in attributes if each.startswith("align ")]
    elif "externally_initialized" in qualifiers:
        kind = "global"
    return Global.of(variable.symbol, qualifiers, kind, [f"{variable.type} {variable.value}".rstrip(), *attributes])


def kernel_symbol(name: str) -> str:
    """Return the symbol, with its `@`, of the kernel `name` after the renaming."""
    return f'@"__wp_kernel.{name}"'


def shared_variables_of(module: DeviceModule, symbol: str) -> set[str]:
    """Return the static shared variables that a function and its callees refer to."""
    return _reached(module, symbol) & module.shared


def uses_dynamic_shared(module: DeviceModule, symbol: str) -> bool:
    """Return True if a function or one of its callees refers to dynamic shared memory."""
    return DYNAMIC_SHARED in _reached(module, symbol)


def refused_assembly(module: DeviceModule, kernels: Collection[str]) -> tuple[str, int] | None:
    """Return why assembly cannot run here that one of the kernels reaches, and its line; None if there is none."""
    if _REFUSED not in module.module.declarations:
        return None
    reached = {symbol for kernel in kernels for symbol in _reached(module, kernel)}
    functions = (each for name, each in module.module.functions.items() if name in reached)
    for one in (each for function in functions for each in function.instructions if each.calls(_REFUSED)):
        text, line = one.operands
        return unescaped(module.module.variables[plain(text.value)].string or ""), int(line.value)
    return None


def refused_modifiers(optimised: Module) -> tuple[str, int] | None:
    """Return why a matrix instruction that is called by label cannot have its modifiers, and its line; None if all can.

    Where the modifiers are constants, the module's optimisation has removed the calls that refuse them.
    """
    if _REFUSED_MODIFIERS not in optimised.declarations:
        return None
    for call in optimised.calls_of(_REFUSED_MODIFIERS):
        text = unescaped(optimised.variables[plain(call.operands[0].value)].string or "")
        return f"{text}; they must be constants", DebugLocations(optimised, SOURCE).line(call)
    return None


def without_lines(module: Module) -> Module:
    """Return the module without its source lines; the same if it has none."""
    has_lines = any(isinstance(item, str) and item.startswith(_COMPILE_UNITS) for item in module.items)
    return module.without_metadata("dbg") if has_lines else module


def _reached(module: DeviceModule, symbol: str) -> set[str]:
    seen: set[str] = set()
    waiting = [plain(symbol)]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in module.module.functions:
            waiting += module.module.functions[current].symbols
    return seen


def without_cpu_attributes(module: Module) -> Module:
    """Remove the processor that clang compiled for from every function."""
    return module.changed(
        lambda item: attribute_group_without(item, *_CPU_ATTRIBUTES) if isinstance(item, str) else item
    )
