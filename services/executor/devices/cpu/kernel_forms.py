"""Choose how each kernel runs and write the IR for it.

Region form is the fast one: the kernel with everything that it calls inlined, cut at its meetings (`regions`), each
region in a loop over the block's threads (`thread_loops`); a kernel without meetings is one region. Thread form is the
fallback for what cannot be cut: a function per thread, which the runtime runs on a stack of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.executor.devices.cpu import back_end
from services.executor.devices.cpu.derived_values import Derived, without_derived_values
from services.executor.devices.cpu.device_module import kernel_symbol
from services.executor.devices.cpu.index_values import THREAD, UNIFORM, declarations, parameter, with_index_parameters
from services.executor.devices.cpu.ir_text import SYMBOL, Function, functions_of, plain
from services.executor.devices.cpu.regions import regions_of
from services.executor.devices.cpu.synchronisation import with_meetings_apart
from services.executor.devices.cpu.thread_loops import LoopWriter, regions_symbol, unused_metadata
from services.executor.devices.cpu.thunks import TableRow, argument_loads, thunk, thunk_symbol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.executor.devices.cpu.host_module import Kernel

_RUNTIME = "@__wp_"
_OURS = ("@__wp_kernel.", "@__wp_dynamic_shared")
# Control flow that the cutter does not read, and stack space that is not a private variable.
_UNCUTTABLE = re.compile(r"^\s*(?:%\S+ = )?(?:invoke|indirectbr|callbr|resume)\b|@llvm\.stacksave|\balloca .*, i\d+ %")
_INDIRECT_CALL = re.compile(r"\bcall [^@]*%[-\w.$]+\(")
_WRITTEN_BY_VALUE = re.compile(r"\bbyval\(")


@dataclass(frozen=True)
class _Cut:
    meeting_count: int
    derived: tuple[Derived, ...]
    parameter_count: int


def with_forms(text: str, kernels: Sequence[Kernel], shared_bytes: Mapping[str, int]) -> tuple[str, list[TableRow]]:
    """The module with the code for each kernel's form, and the table's rows. `text` has all calls inlined."""
    functions = functions_of(text)
    cuts: dict[str, _Cut] = {}
    for kernel in kernels:
        function = functions[plain(kernel_symbol(kernel.symbol))]
        if can_be_cut(functions, function):
            changed, cuts[kernel.symbol] = _prepared(function)
            text = text.replace(function.text, changed.text)
    text = back_end.values_in_memory(text)
    functions = functions_of(text)
    writer = LoopWriter(unused_metadata(text))
    parts: list[str] = []
    rows: list[TableRow] = []
    for kernel in kernels:
        function = functions[plain(kernel_symbol(kernel.symbol))]
        size = shared_bytes[kernel.symbol]
        if kernel.symbol in cuts:
            text = text.replace(function.text, "")
            code, row = _region_form(kernel, function, cuts[kernel.symbol], writer)
            parts += code
            rows.append(replace(row, shared_bytes=size))
        else:
            parts.append(thunk(kernel, function))
            rows.append(TableRow(kernel.symbol, size, run=thunk_symbol(kernel.symbol)))
    return "\n".join([text, *parts, *writer.metadata_lines]), rows


def can_be_cut(functions: Mapping[str, Function], function: Function) -> bool:
    """Whether a kernel can take region form: all that waits or asks for indices is in its own body."""
    if _WRITTEN_BY_VALUE.search(function.header) and not _only_reads_structs(function):
        return False
    if any(_UNCUTTABLE.search(line) for line in function.body):
        return False
    callees = {plain(symbol) for line in function.body for symbol in SYMBOL.findall(line)}
    if any(_INDIRECT_CALL.search(line) for line in function.body):
        callees |= functions.keys()
    return not any(
        _needs_runtime(functions[callee]) for callee in callees & functions.keys() if callee != _name(function)
    )


def _needs_runtime(function: Function) -> bool:
    symbols = (symbol for line in function.body for symbol in SYMBOL.findall(line))
    return any(symbol.startswith(_RUNTIME) and not symbol.startswith(_OURS) for symbol in symbols)


def _only_reads_structs(function: Function) -> bool:
    by_value = [p for p in function.parameters if "byval(" in p.declaration]
    return all("readonly" in p.declaration or "readnone" in p.declaration for p in by_value)


def _name(function: Function) -> str:
    return plain(function.symbol)


def _prepared(function: Function) -> tuple[Function, _Cut]:
    """The kernel with its meetings apart, and all that regions recompute or are passed as parameters of its own."""
    own = [f"{p.declaration} {p.value}" for p in function.parameters]
    given = {p.value for p in function.parameters} | {parameter(index) for index in (*UNIFORM, *THREAD)}
    body, count = with_meetings_apart(with_index_parameters(function.body))
    body, derived = without_derived_values(body, given) if count else (body, ())
    parameters = [*own, declarations(), *(f"{value.type} {value.name}" for value in derived)]
    header = f"define void {function.symbol}({', '.join(parameters)}) {{"
    return Function(function.symbol, header, body), _Cut(count, derived, len(own))


def _region_form(kernel: Kernel, function: Function, cut: _Cut, writer: LoopWriter) -> tuple[list[str], TableRow]:
    parameters = function.parameters[: cut.parameter_count]
    own = ", ".join(f"{p.declaration} {p.value}" for p in parameters)
    original = replace(function, header=f"define void {function.symbol}({own}) {{")
    regions = regions_of(kernel.symbol, original, cut.meeting_count, cut.derived)
    loads, passed = argument_loads(kernel, parameters)
    loop = writer.regions_function(kernel.symbol, loads, passed, regions)
    row = TableRow(kernel.symbol, 0, regions=regions_symbol(kernel.symbol), meetings=regions.meetings)
    return [*regions.functions, loop], replace(row, context=regions.context)
