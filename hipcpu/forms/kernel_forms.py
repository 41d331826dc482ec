"""Choose how each kernel runs and write the IR for it.

Region form is the fast one. The kernel with all calls inlined is cut at its barriers (`barrier_regions`), and each
region is put into a loop over the block's threads (`thread_loops`); a kernel without barriers is one region. The
runtime runs region after region (`box_functions`). Thread form is the fallback for kernels that cannot be cut: one
function per thread, which the runtime runs on a stack of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hipcpu.forms.barrier_regions import Regions
from hipcpu.forms.box_functions import regions_function, regions_symbol
from hipcpu.forms.region_plan import RegionPlan
from hipcpu.forms.thread_loops import LoopWriter
from hipcpu.ir.derived_values import without_derived_values
from hipcpu.ir.function import Function
from hipcpu.ir.index_values import THREAD, UNIFORM, declarations, parameter, with_index_parameters
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.ir.synchronisation import is_any_matrix_instruction, with_barriers_apart
from hipcpu.ir.text import parameters_text, plain
from hipcpu.modules import back_end
from hipcpu.modules.device_module import kernel_symbol
from hipcpu.modules.host_module import Kernel
from hipcpu.modules.thunks import LaunchLimits, TableRow, argument_loads, thunk, thunk_symbol

_RUNTIME = "@__wp_"
_OURS = ("@__wp_kernel.", "@__wp_dynamic_shared")
# Control flow that the cutter does not understand.
_UNCUTTABLE = frozenset(("invoke", "indirectbr", "callbr", "resume"))
_READ_ONLY = frozenset(("readonly", "readnone"))


@dataclass(frozen=True)
class _Cut:
    barrier_count: int
    derived: tuple[Instruction, ...]
    parameter_count: int


def with_forms(
    module: Module, kernels: Sequence[Kernel], limits: Mapping[str, LaunchLimits]
) -> tuple[Module, list[TableRow]]:
    """Return the module with the code for each kernel's form, and the table's rows.

    All calls in the module must be inlined.
    """
    cuts: dict[str, _Cut] = {}
    prepared: dict[str, Function | None] = {}
    for kernel in kernels:
        function = module.functions[plain(kernel_symbol(kernel.symbol))]
        if can_be_cut(module.functions, function):
            prepared[function.name], cuts[kernel.symbol] = _prepared(function)
    text = module.with_functions(prepared).text
    module = Module.from_text(back_end.values_in_memory(text))
    writer = LoopWriter(module.unused_metadata)
    parts: list[str] = []
    rows: list[TableRow] = []
    for kernel in kernels:
        function = module.functions[plain(kernel_symbol(kernel.symbol))]
        if kernel.symbol in cuts:
            code, row = _cut_form(kernel, function, cuts[kernel.symbol], writer)
            parts += code
            rows.append(replace(row, limits=limits[kernel.symbol]))
        else:
            parts.append(thunk(kernel, function))
            rows.append(TableRow(kernel.symbol, limits[kernel.symbol], run=thunk_symbol(kernel.symbol)))
    if writer.functions:
        back_end.leave_addresses()
    rest = module.with_functions(dict.fromkeys(prepared))
    return rest.followed_by(*parts, *writer.functions, *writer.metadata_lines), rows


def can_be_cut(functions: Mapping[str, Function], function: Function) -> bool:
    """Return True if a kernel can be cut: all that waits or asks for indices must be in its own body."""
    if any(p.by_value and not _READ_ONLY.intersection(p.attributes.split()) for p in function.parameters):
        return False
    body = list(function.instructions)
    if any(map(_is_uncuttable, body)):
        return False
    callees = set(function.symbols)
    if any(one.callee.startswith("%") for one in body):
        callees |= functions.keys()
    callees -= {function.name}
    return not any(_needs_runtime(functions[callee]) for callee in callees & functions.keys())


def _is_uncuttable(one: Instruction) -> bool:
    """Return True for control flow that cannot be cut, unknown instructions, and stack space that is not a variable."""
    if one.opcode == "alloca":
        return any(operand.value.startswith("%") for operand in one.operands)
    return one.opcode in _UNCUTTABLE or one.calls("@llvm.stacksave") or is_any_matrix_instruction(one)


def _needs_runtime(function: Function) -> bool:
    return any(symbol.startswith(_RUNTIME) and not symbol.startswith(_OURS) for symbol in function.symbols)


def _prepared(function: Function) -> tuple[Function, _Cut]:
    """Separate the kernel's barriers, and turn the values that regions recompute into parameters of its own."""
    values = [p.value for p in function.parameters]
    given = {*values, *(parameter(index) for index in (*UNIFORM, *THREAD))}
    blocks, barriers = with_barriers_apart(with_index_parameters(function.blocks))
    blocks, derived = without_derived_values(blocks, given) if barriers else (blocks, ())
    own = [parameters_text(function.parameters)] if values else []
    parameters = [*own, declarations(), *(f"{value.type} {value.result}" for value in derived)]
    header = f"define void {function.symbol}({', '.join(parameters)}) {{"
    return Function.of_blocks(header, blocks.values()), _Cut(barriers, derived, len(values))


def _cut_form(kernel: Kernel, function: Function, cut: _Cut, writer: LoopWriter) -> tuple[list[str], TableRow]:
    parameters = function.parameters[: cut.parameter_count]
    blocks = {
        label: block.with_instructions(one for one in block.instructions if not one.calls("@llvm.lifetime."))
        for label, block in function.blocks.items()
    }
    regions = Regions(kernel.symbol, parameters, RegionPlan(blocks, cut.barrier_count, cut.derived))
    plan = regions.plan
    loads, passed = argument_loads(kernel, parameters)
    code = regions_function(kernel.symbol, loads, passed, regions, writer)
    row = TableRow(
        kernel.symbol,
        LaunchLimits(),
        regions=regions_symbol(kernel.symbol),
        barriers=plan.barriers,
        context=plan.context,
    )
    return [*(one.text for one in regions.functions), code], row
