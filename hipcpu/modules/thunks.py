"""The IR that connects host and kernels: a thunk per kernel, all with one signature, and the table of kernels.

A thunk takes the array of addresses that `hipLaunchKernel` was given, loads each IR parameter from its place
(`host_module.places_of`) and calls the kernel. The runtime reads the table (`runtime/kernels/kernel_table.h`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hipcpu.ir.function import Function
from hipcpu.ir.synchronisation import Barrier
from hipcpu.ir.text import Operand, unescaped
from hipcpu.modules.argument_layouts import argument_masks
from hipcpu.modules.device_module import DYNAMIC_SHARED, kernel_symbol
from hipcpu.modules.host_module import HostModule, Kernel, Place, Variable


@dataclass(frozen=True)
class LaunchLimits:
    """What every launch of a kernel is held to: its static shared memory, and its own bound of a block's threads.

    The bound is 0 if the kernel has none.
    """

    shared_bytes: int = 0
    most_threads: int = 0


@dataclass(frozen=True)
class TableRow:
    """A kernel's row in the table; one of `run` and `regions` is a function's symbol, the other `null`."""

    kernel: str
    limits: LaunchLimits
    run: str = "null"
    regions: str = "null"
    barriers: tuple[Barrier, ...] = ()
    context: str = "{}"
    """IR type of the context that region functions use."""


def thunk_symbol(name: str) -> str:
    """Return the symbol of the thunk of the kernel `name`."""
    return f'@"__wp_thunk.{name}"'


def thunk(kernel: Kernel, function: Function) -> str:
    """Return the thunk's IR."""
    callee = kernel_symbol(kernel.symbol)
    loads, passed = argument_loads(kernel, function.parameters)
    lines = [f"define internal void {thunk_symbol(kernel.symbol)}(ptr %arguments, ptr %index) {{", *loads]
    return "\n".join([*lines, f"  call void {callee}({', '.join(passed)})", "  ret void", "}"])


def argument_loads(kernel: Kernel, parameters: Sequence[Operand]) -> tuple[list[str], list[str]]:
    """Return the IR that fetches a kernel's arguments from `%arguments`, and the arguments as a call passes them."""
    if len(parameters) != len(kernel.places):
        raise ValueError(f"kernel {kernel.symbol} has {len(parameters)} IR parameters, its stub {len(kernel.places)}")
    lines: list[str] = []
    passed: list[str] = []
    for number, (parameter, place) in enumerate(zip(parameters, kernel.places, strict=True)):
        lines += _load(number, parameter, place)
        passed.append(f"{parameter.declaration} %v{number}")
    return lines, passed


def _load(number: int, parameter: Operand, place: Place) -> list[str]:
    slot = f"  %s{number} = getelementptr ptr, ptr %arguments, i64 {place.index}"
    if place.is_address:
        return [slot, f"  %v{number} = load ptr, ptr %s{number}"]
    lines = [slot, f"  %a{number} = load ptr, ptr %s{number}"]
    lines.append(f"  %p{number} = getelementptr i8, ptr %a{number}, i64 {place.offset}")
    if parameter.type == "i1":
        return [*lines, f"  %b{number} = load i8, ptr %p{number}", f"  %v{number} = trunc i8 %b{number} to i1"]
    return [*lines, f"  %v{number} = load {parameter.type}, ptr %p{number}, align 1"]


_PLACE = "@__wp_place_of_dynamic_shared"
"""Function that returns the address of the calling thread's dynamic shared memory."""
_KERNEL = "{ ptr, ptr, ptr, ptr, ptr, i64, i32, i32, i64, ptr }"
_LAYOUT = "{ i64, ptr }"
_VARIABLE = "{ ptr, ptr, i64 }"
_BARRIER = "{ i32, i32, i32, i32 }"


def table(host: HostModule, rows: Sequence[TableRow], dynamic: Collection[str] = ()) -> str:
    """Return the KernelTable's IR, under the symbol that the host side expects.

    `dynamic` holds the kernels that use dynamic shared memory.
    """
    variables = [
        f"{_VARIABLE} {{ ptr @__wp_variable_name.{number}, ptr {_symbol(variable)}, i64 {variable.size_bytes} }}"
        for number, variable in enumerate(host.variables)
    ]
    lines = [f"define internal ptr {_PLACE}() {{\n  ret ptr {DYNAMIC_SHARED}\n}}"] if dynamic else []
    lines += [_string(f"@__wp_kernel_name.{number}", row.kernel) for number, row in enumerate(rows)]
    lines += [_barriers(number, row) for number, row in enumerate(rows)]
    masks = argument_masks(host)
    lines += [line for number, row in enumerate(rows) for line in _layouts(number, masks.get(row.kernel, []))]
    lines += [_string(f"@__wp_variable_name.{number}", v.symbol) for number, v in enumerate(host.variables)]
    entries = [
        _row(number, row, _PLACE if row.kernel in dynamic else "null", masks.get(row.kernel))
        for number, row in enumerate(rows)
    ]
    lines.append(_array("@__wp_kernels", _KERNEL, entries))
    lines.append(_array("@__wp_variables", _VARIABLE, variables))
    lines.append(
        f"@{host.table} = constant {{ ptr, i64, ptr, i64 }} "
        f"{{ ptr @__wp_kernels, i64 {len(rows)}, ptr @__wp_variables, i64 {len(variables)} }}"
    )
    return "\n".join(lines)


def _row(number: int, row: TableRow, place: str, masks: Sequence[bytes] | None) -> str:
    layouts = "null" if masks is None else f"@__wp_arguments.{number}"
    context_bytes = f"ptrtoint (ptr getelementptr ({row.context}, ptr null, i32 1) to i64)"
    return (
        f"{_KERNEL} {{ ptr @__wp_kernel_name.{number}, ptr {row.run}, ptr {row.regions}, "
        f"ptr @__wp_barriers.{number}, ptr {place}, i64 {context_bytes}, i32 {row.limits.shared_bytes}, "
        f"i32 {row.limits.most_threads}, i64 {len(masks or ())}, ptr {layouts} }}"
    )


def _layouts(number: int, masks: Sequence[bytes]) -> list[str]:
    symbols = [f"@__wp_mask.{number}.{at}" for at in range(len(masks))]
    lines = [_bytes(symbol, mask) for symbol, mask in zip(symbols, masks, strict=True)]
    entries = [f"{_LAYOUT} {{ i64 {len(mask)}, ptr {symbol} }}" for symbol, mask in zip(symbols, masks, strict=True)]
    return [*lines, _array(f"@__wp_arguments.{number}", _LAYOUT, entries)]


def _barriers(number: int, row: TableRow) -> str:
    entries = [
        f"{_BARRIER} {{ i32 {int(one.is_wave)}, i32 {int(one.has_mask)}, i32 {one.line}, i32 {one.matrix} }}"
        for one in row.barriers
    ]
    return _array(f"@__wp_barriers.{number}", _BARRIER, entries)


def _symbol(variable: Variable) -> str:
    return f'@"{variable.symbol}"'


def _string(symbol: str, value: str) -> str:
    size = len(unescaped(value).encode(errors="surrogateescape")) + 1
    return f'{symbol} = internal constant [{size} x i8] c"{value}\\00"'


def _bytes(symbol: str, content: bytes) -> str:
    text = "".join(f"\\{byte:02X}" for byte in content)
    return f'{symbol} = internal constant [{len(content)} x i8] c"{text}"'


def _array(symbol: str, element: str, values: Sequence[str]) -> str:
    return f"{symbol} = internal constant [{len(values)} x {element}] [{', '.join(values)}]"
