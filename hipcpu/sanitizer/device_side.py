"""The kernel side of a sanitized build.

Theory of operation: functions are inlined, private variables are put into registers, and nothing else is optimised, so
that the remaining memory accesses are the source's own. Then each access gets a check (`instrument`), each variable a
guard zone (`variables`), and all kernels take thread form, in which the runtime knows the running thread. Optimisation
comes last: it may not remove a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hipcpu.front.diagnostics import SOURCE
from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.module import Module
from hipcpu.ir.text import plain
from hipcpu.modules.device_module import kernel_symbol
from hipcpu.modules.host_module import Kernel
from hipcpu.modules.thunks import LaunchLimits, TableRow, thunk, thunk_symbol
from hipcpu.sanitizer.instrument import instrumented
from hipcpu.sanitizer.variables import with_guarded_variables

PUBLIC = frozenset({"__wp_list_variables"})
"""Symbols by which the runtime recognises a sanitized build."""


def sanitized(
    module: Module, kernels: Sequence[Kernel], limits: Mapping[str, LaunchLimits]
) -> tuple[Module, list[TableRow]]:
    """Return the checked kernels in thread form, and their rows in the table.

    `module` must have its private values in registers.
    """
    checked = with_guarded_variables(instrumented(module, DebugLocations(module, SOURCE)))
    thunks = [thunk(kernel, checked.functions[plain(kernel_symbol(kernel.symbol))]) for kernel in kernels]
    rows = [TableRow(kernel.symbol, limits[kernel.symbol], run=thunk_symbol(kernel.symbol)) for kernel in kernels]
    return checked.followed_by(*thunks), rows
