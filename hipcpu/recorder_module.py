"""The recorder's own modules: the host side that notes its lines, and the table of its kernels' names.

The recorder runs `solution` without a device (runtime/recorder). The host side is unchanged, except that each call in
the source first stores its line for the recorder. A table replaces the kernels: it has their names and the size of each
argument, with a mask of the bytes that are not padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hipcpu.front.diagnostics import SOURCE
from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.ir.text import plain, symbols_in
from hipcpu.modules import back_end
from hipcpu.modules.constructors import with_init_array
from hipcpu.modules.device_module import without_cpu_attributes
from hipcpu.modules.host_module import MANAGED, HostModule, Kernel
from hipcpu.modules.thunks import LaunchLimits, TableRow, table

_CALLS = ("call", "invoke")
_LINE = "@__wp_line"
_LAYOUT = "{ i64, ptr }"


def recorder_objects(host: HostModule, limits: Mapping[str, LaunchLimits]) -> list[bytes]:
    """Return the objects of the host side with its lines, and of the table; `limits` has each kernel's."""
    back_end.initialise()
    machine = back_end.target_machine()
    objects: list[bytes] = []
    for text in (with_init_array(without_cpu_attributes(_noting(host.module))).text, _table(host, limits)):
        module = back_end.parse(text)
        back_end.hide(module, frozenset({"main"}))
        back_end.optimise(module, machine, level=1)
        objects.append(back_end.object_file(module, machine))
    return objects


def _noting(module: Module) -> Module:
    """Return the module with a store of the line before each call, and without debug information."""
    places = DebugLocations(module, SOURCE)

    def change(one: Instruction) -> list[Instruction]:
        line = places.line(one) if one.opcode in _CALLS else 0
        return [Instruction(f"  store i32 {line}, ptr {_LINE}"), one] if line else [one]

    noted = {name: function.with_instructions(change) for name, function in module.functions.items()}
    changed = module.with_functions(noted).without_metadata("dbg")
    return changed.followed_by(f"{_LINE} = external thread_local(localexec) global i32", "")


def _table(host: HostModule, limits: Mapping[str, LaunchLimits]) -> str:
    """Return the table's module; empty for a source that has neither kernels nor device variables."""
    managed = next(host.module.calls_of(MANAGED), None)
    lines: list[str] = []
    if managed:
        name = plain(symbols_in(managed.text.partition("(")[2])[0])[1:]
        lines.append(f'@managed = internal constant [{len(name) + 1} x i8] c"{name}\\00"')
    if host.table is None:
        lines.append("@wavepool_recorded = constant { ptr, ptr, ptr } zeroinitializer")
        return "\n".join([*lines, ""])
    rows = [TableRow(kernel.symbol, limits[kernel.symbol]) for kernel in host.kernels]
    # Variables need an address in the table, which is only used to register managed ones.
    lines += [f'@"{variable.symbol}" = internal global [8 x i8] zeroinitializer' for variable in host.variables]
    lines += [table(host, rows)]
    masks = [_masks(host, kernel) for kernel in host.kernels]
    for number, arguments in enumerate(masks):
        lines += [_bytes(f"@mask.{number}.{at}", mask) for at, mask in enumerate(arguments)]
        layouts = [f"{_LAYOUT} {{ i64 {len(mask)}, ptr @mask.{number}.{at} }}" for at, mask in enumerate(arguments)]
        lines.append(_array(f"@arguments.{number}", layouts))
    kernels = [f"{_LAYOUT} {{ i64 {len(arguments)}, ptr @arguments.{at} }}" for at, arguments in enumerate(masks)]
    lines.append(_array("@layouts", kernels))
    found = "@managed" if managed else "null"
    lines.append(
        f"@wavepool_recorded = constant {{ ptr, ptr, ptr }} {{ ptr @{host.table}, ptr @layouts, ptr {found} }}"
    )
    return "\n".join([*lines, ""])


def _masks(host: HostModule, kernel: Kernel) -> list[bytes]:
    """Return a byte mask for each argument of a kernel: 0 for padding, and throughout if it has no value."""
    if not all(kernel.argument_types):
        raise ValueError(f"the arguments of kernel {kernel.symbol} have unknown types")
    types = "".join(f"@argument.{at} = external global {kind}\n" for at, kind in enumerate(kernel.argument_types))
    module = back_end.parse("\n".join([*host.module.type_lines, types]))
    data = back_end.target_machine().target_data
    filled = {place.index for place in kernel.places}
    masks: list[bytes] = []
    for at in range(len(kernel.argument_types)):
        kind = module.get_global_variable(f"argument.{at}").global_value_type
        mask = bytearray(data.get_abi_size(kind))
        if at in filled:
            _fill(mask, kind, 0, data)
        masks.append(bytes(mask))
    return masks


def _fill(mask: bytearray, kind: Any, at: int, data: Any) -> None:  # noqa: ANN401 - llvmlite has no types
    if kind.is_struct:
        for number, element in enumerate(kind.elements):
            _fill(mask, element, at + data.get_element_offset(kind, number), data)
    elif kind.is_array:
        element = next(iter(kind.elements))
        for number in range(kind.element_count):
            _fill(mask, element, at + number * data.get_abi_size(element), data)
    else:
        size = data.get_abi_size(kind)
        mask[at : at + size] = b"\x01" * size


def _bytes(symbol: str, content: bytes) -> str:
    text = "".join(f"\\{byte:02X}" for byte in content)
    return f'{symbol} = internal constant [{len(content)} x i8] c"{text}"'


def _array(symbol: str, values: Sequence[str]) -> str:
    return f"{symbol} = internal constant [{len(values)} x {_LAYOUT}] [{', '.join(values)}]"
