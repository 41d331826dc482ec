"""The kernel side of a sanitized build.

Theory of operation: functions are inlined and private variables put into registers, and nothing else is optimised, so
that what is left in memory is what the source reads and writes. Then each access gets a check (`instrument`), each
variable a guard zone (`variables`), and all kernels take thread form, in which the runtime knows the running thread.
Optimisation comes after that: it may not remove a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.front.diagnostics import SOURCE
from hipcpu.ir.ir_text import functions_of, plain
from hipcpu.modules import back_end
from hipcpu.modules.device_module import kernel_symbol
from hipcpu.modules.lockstep import with_lockstep_stores
from hipcpu.modules.thunks import TableRow, thunk, thunk_symbol
from hipcpu.sanitizer.instrument import instrumented
from hipcpu.sanitizer.source_lines import SourceLines
from hipcpu.sanitizer.variables import with_guarded_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hipcpu.modules.back_end import Module
    from hipcpu.modules.host_module import Kernel


PUBLIC = frozenset({"__wp_list_variables"})
"""What the runtime knows a sanitized build by."""


def sanitized(module: Module, kernels: Sequence[Kernel], shared_bytes: Mapping[str, int]) -> tuple[str, list[TableRow]]:
    """The checked kernels in thread form, and their rows in the table; `module` is unoptimised, and is changed."""
    back_end.values_in_registers(module)
    text = with_lockstep_stores(str(module))
    text = with_guarded_variables(instrumented(text, SourceLines(text, SOURCE)))
    functions = functions_of(text)
    thunks = [thunk(kernel, functions[plain(kernel_symbol(kernel.symbol))]) for kernel in kernels]
    rows = [TableRow(kernel.symbol, shared_bytes[kernel.symbol], run=thunk_symbol(kernel.symbol)) for kernel in kernels]
    return "\n".join([text, *thunks]), rows
