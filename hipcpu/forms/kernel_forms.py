"""Choose how each kernel runs and write the IR for it.

Two forms are fast: the kernel with everything that it calls inlined, cut at its meetings (`regions`), each region in a
loop over the block's threads (`thread_loops`); a kernel without meetings is one region. In block form, where threads
stay together, one function runs them all (`block_functions`); in region form the runtime runs region after region
(`box_functions`). Thread form is the fallback for what cannot be cut: a function per thread, which the runtime runs on
a stack of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hipcpu.forms.block_functions import COUNT_PREDICATES, BlockCode, block_symbol
from hipcpu.forms.box_functions import regions_function, regions_symbol
from hipcpu.forms.pauses import with_pauses
from hipcpu.forms.regions import regions_of
from hipcpu.forms.thread_loops import LoopWriter, unused_metadata
from hipcpu.ir.derived_values import Derived, without_derived_values
from hipcpu.ir.index_values import THREAD, UNIFORM, declarations, parameter, with_index_parameters
from hipcpu.ir.ir_text import SYMBOL, Function, functions_of, plain
from hipcpu.ir.synchronisation import PAUSE_DECLARATION, with_meetings_apart
from hipcpu.modules import back_end
from hipcpu.modules.device_module import kernel_symbol
from hipcpu.modules.thunks import TableRow, argument_loads, thunk, thunk_symbol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hipcpu.ir.launch_shapes import Shape
    from hipcpu.modules.host_module import Kernel

_RUNTIME = "@__wp_"
_OURS = ("@__wp_kernel.", "@__wp_dynamic_shared")
# Control flow that the cutter does not read, and stack space that is not a private variable.
_UNCUTTABLE = re.compile(r"^\s*(?:%\S+ = )?(?:invoke|indirectbr|callbr|resume)\b|@llvm\.stacksave|\balloca .*, i\d+ %")
_INDIRECT_CALL = re.compile(r"\bcall [^@]*%[-\w.$]+\(")
_WRITTEN_BY_VALUE = re.compile(r"\bbyval\(")


@dataclass(frozen=True)
class _Cut:
    meeting_count: int
    pause_count: int
    derived: tuple[Derived, ...]
    parameter_count: int


def with_forms(
    text: str, kernels: Sequence[Kernel], shared_bytes: Mapping[str, int], shapes: Mapping[str, Sequence[Shape]]
) -> tuple[str, list[TableRow]]:
    """The module with the code for each kernel's form, and the table's rows.

    `text` has all calls inlined; `shapes` are the blocks that each kernel is probably launched with.
    """
    functions = functions_of(text)
    cuts: dict[str, _Cut] = {}
    for kernel in kernels:
        function = functions[plain(kernel_symbol(kernel.symbol))]
        if can_be_cut(functions, function):
            changed, cuts[kernel.symbol] = _prepared(function)
            text = text.replace(function.text, changed.text)
    text = back_end.values_in_memory(f"{text}\n{PAUSE_DECLARATION}\n")
    functions = functions_of(text)
    writer = LoopWriter(unused_metadata(text))
    parts: list[str] = []
    rows: list[TableRow] = []
    for kernel in kernels:
        function = functions[plain(kernel_symbol(kernel.symbol))]
        size = shared_bytes[kernel.symbol]
        if kernel.symbol in cuts:
            text = text.replace(function.text, "")
            code, row = _cut_form(kernel, function, cuts[kernel.symbol], writer, shapes.get(kernel.symbol, ()))
            parts += code
            rows.append(replace(row, shared_bytes=size))
        else:
            parts.append(thunk(kernel, function))
            rows.append(TableRow(kernel.symbol, size, run=thunk_symbol(kernel.symbol)))
    if writer.functions:
        back_end.leave_addresses()
    return "\n".join([text, COUNT_PREDICATES, *parts, *writer.functions, *writer.metadata_lines]), rows


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
    body = with_pauses(with_index_parameters(function.body), [p.value for p in function.parameters])
    body, meetings, pauses = with_meetings_apart(body)
    body, derived = without_derived_values(body, given) if meetings or pauses else (body, ())
    parameters = [*own, declarations(), *(f"{value.type} {value.name}" for value in derived)]
    header = f"define void {function.symbol}({', '.join(parameters)}) {{"
    return Function(function.symbol, header, body), _Cut(meetings, pauses, derived, len(own))


def _cut_form(
    kernel: Kernel, function: Function, cut: _Cut, writer: LoopWriter, shapes: Sequence[Shape]
) -> tuple[list[str], TableRow]:
    parameters = function.parameters[: cut.parameter_count]
    own = ", ".join(f"{p.declaration} {p.value}" for p in parameters)
    original = replace(function, header=f"define void {function.symbol}({own}) {{")
    regions = regions_of(kernel.symbol, original, cut.meeting_count, cut.pause_count, cut.derived)
    loads, passed = argument_loads(kernel, parameters)
    row = TableRow(kernel.symbol, 0, meetings=regions.meetings[: cut.meeting_count], context=regions.context)
    if regions.together:
        code = BlockCode(kernel.symbol, loads, passed, regions, writer)
        return [*regions.functions, regions.rest, *code.functions(shapes)], replace(
            row, block=block_symbol(kernel.symbol)
        )
    code = regions_function(kernel.symbol, loads, passed, regions, writer)
    return [*regions.functions, code], replace(row, regions=regions_symbol(kernel.symbol))
