"""The recorder's own modules: the host side that notes its lines, and the table of its kernels' names.

The recorder runs `solution` without a device (runtime/recorder). The host side is unchanged, except that each call in
the source first stores its line for the recorder. A table replaces the kernels: it has their names and arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

from hipcpu.front.diagnostics import SOURCE
from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.ir.text import plain, symbols_in
from hipcpu.modules import back_end
from hipcpu.modules.constructors import with_init_array
from hipcpu.modules.device_module import without_cpu_attributes
from hipcpu.modules.host_module import MANAGED, HostModule
from hipcpu.modules.thunks import LaunchLimits, TableRow, table

_CALLS = ("call", "invoke")
_LINE = "@__wp_line"


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
        lines.append("@wavepool_recorded = constant { ptr, ptr } zeroinitializer")
        return "\n".join([*lines, ""])
    if unknown := [kernel.symbol for kernel in host.kernels if not all(kernel.argument_types)]:
        raise ValueError(f"the arguments of kernel {unknown[0]} have unknown types")
    rows = [TableRow(kernel.symbol, limits[kernel.symbol]) for kernel in host.kernels]
    # Variables need an address in the table, which is only used to register managed ones.
    lines += [f'@"{variable.symbol}" = internal global [8 x i8] zeroinitializer' for variable in host.variables]
    lines += [table(host, rows)]
    found = "@managed" if managed else "null"
    lines.append(f"@wavepool_recorded = constant {{ ptr, ptr }} {{ ptr @{host.table}, ptr {found} }}")
    return "\n".join([*lines, ""])
