"""Cut a kernel at the places where its threads wait for each other (loop fission).

Theory of operation
-------------------
A region is the code that one thread runs from its start, or from the place where it last waited, to the next place
where it waits or to its end. The kernel's control flow is cut after every barrier (of the block, or a cross-lane
operation; each is in a block of its own by now), and each piece becomes a function: region 0 from the start, region n +
1 from after barrier n. Blocks that several regions can reach are in each of them. A region returns the place that its
thread has reached: m + 1 for barrier m, which is also the region to go on with, or 0 at the end. So "run region r for
all threads of the block, then look at the answers" executes the kernel, and running one region for all threads is a
loop without dependences, which LLVM vectorises (`thread_loops`).

Before this, LLVM's reg2mem has turned every value that crosses blocks into a private variable. A variable whose value
may be read after some barrier (by liveness) is kept in the context: an array with one element per thread. It is copied
into a private variable of the region when the region begins, and back when the thread comes to a barrier after which it
is live, so that within a region it is in a register. Variables with more than one value (arrays, or anything whose
address is taken) always stay in the context: on the stack, all threads of a vectorised loop would share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hipcpu.forms.barrier_area import MASKS
from hipcpu.forms.region_plan import RegionPlan, Uniform, number_of
from hipcpu.forms.wave_values import MATRIX, matrix_address, with_wave_values
from hipcpu.ir.derived_values import needed
from hipcpu.ir.function import Block, Function, block, reachable
from hipcpu.ir.index_values import declarations
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.lazy import lazy
from hipcpu.ir.synchronisation import Barrier, barrier_of
from hipcpu.ir.text import Operand, parameters_text
from hipcpu.ir.variables import Variable

_RETURN = Instruction("  ret void")

_AREA, _BROUGHT = "%wp.barrier_area", "%wp.brought"


def region_symbol(kernel: str, number: int) -> str:
    """Return the symbol of a kernel's region function."""
    return f'@"__wp_region.{kernel}.{number}"'


class Regions:
    """A kernel cut into region functions; `parameters` are the kernel's own.

    Its barriers are in blocks of their own, and its other values are private variables or derived.
    """

    def __init__(self, kernel: str, parameters: Sequence[Operand], plan: RegionPlan) -> None:
        self._kernel = kernel
        self._parameters = parameters_text(parameters)
        self.plan = plan

    @lazy
    def functions(self) -> tuple[Function, ...]:
        """The region functions in order; their symbols are `region_symbol(kernel, number)`."""
        return tuple(map(self._region, range(len(self.plan.barriers) + 1)))

    def _region(self, number: int) -> Function:
        start = self.plan.start(number)
        body = self._body(reachable(self.plan.blocks, [start], self.plan.stops))
        entry = self._entry(body, self.plan.live_at_start(number), f"  br label {start}")
        header = f"define internal i32 {region_symbol(self._kernel, number)}"
        header += f"({self._all_parameters(self.plan.uniforms(number))}) alwaysinline {{"
        return Function.of_blocks(header, [entry, *body])

    def _body(self, labels: Sequence[str]) -> list[Block]:
        stored = self.plan.stored_in(labels)
        return [block(label, self._block(label, stored)) for label in labels]

    def _entry(self, body: Sequence[Block], live: frozenset[str], ending: str) -> Block:
        names = {name for each in body for one in each.instructions for name in one.names}
        derived = needed(self.plan.derived, names)
        matrix = matrix_address() if MATRIX in names else []
        return block("%wp.entry", [*derived, *matrix, *self._variables(names, live), ending], "")

    def _all_parameters(self, uniforms: Sequence[Uniform]) -> str:
        ours = f"{declarations()}, i64 %wp.thread, ptr %wp.context, ptr {_AREA}, ptr {_BROUGHT}, ptr %wp.values"
        ours += ", i64 %wp.after_side"
        ours += "".join(f", {uniform.type} %wp.uniform.{uniform.slot}" for uniform in uniforms)
        return f"{self._parameters}, {ours}" if self._parameters else ours

    def _variables(self, used: set[str], live: frozenset[str]) -> list[str]:
        lines: list[str] = []
        for name, variable in self.plan.variables.items():
            if name not in used:
                continue
            if not variable.simple:
                lines.append(f"  {name} = {self._slot_address(name)}")
                continue
            lines.append(f"  {name} = alloca {variable.type}")
            if name in live:
                lines += self._restored(name, variable)
        return lines

    def _slot_address(self, name: str, element: str = "%wp.thread") -> str:
        return f"getelementptr {self.plan.context}, ptr %wp.context, i64 0, i32 {self.plan.slots[name]}, i64 {element}"

    def _restored(self, name: str, variable: Variable) -> list[str]:
        if name in self.plan.uniform:
            return [f"  store {variable.type} %wp.uniform.{self.plan.slots[name]}, ptr {name}"]
        slot = f"%wp.restore.{self.plan.slots[name]}"
        lines = [f"  {slot}.p = {self._slot_address(name)}"]
        if variable.type == "i1":
            lines += [f"  {slot}.b = load i8, ptr {slot}.p", f"  {slot} = trunc i8 {slot}.b to i1"]
        else:
            lines.append(f"  {slot} = load {variable.type}, ptr {slot}.p")
        return [*lines, f"  store {variable.type} {slot}, ptr {name}"]

    def _saved(self, name: str, variable: Variable, number: int) -> list[str]:
        slot = f"%wp.save.{number}.{self.plan.slots[name]}"
        element = "%wp.after_side" if name in self.plan.uniform else "%wp.thread"
        lines = [f"  {slot} = load {variable.type}, ptr {name}"]
        lines.append(f"  {slot}.p = {self._slot_address(name, element)}")
        if variable.type == "i1":
            return [*lines, f"  {slot}.b = zext i1 {slot} to i8", f"  store i8 {slot}.b, ptr {slot}.p"]
        return [*lines, f"  store {variable.type} {slot}, ptr {slot}.p"]

    def _block(self, label: str, stored: frozenset[str]) -> Iterable[Instruction | str]:
        body = [one for one in self.plan.blocks[label].instructions if one.opcode != "alloca"]
        if label in self.plan.stops:
            body = [one for one in body[:-1] if not barrier_of(one)]
            return [*body, *self._arrival(number_of(label), stored)]
        return ("  ret i32 0" if one == _RETURN else one for one in with_wave_values(label, body))

    def _arrival(self, number: int, stored: frozenset[str]) -> list[str]:
        kept = _brought(self.plan.barriers[number], number)
        # Values that pass between the two sides must be copied; all others are still in place.
        changed = stored | self.plan.uniform
        for name in sorted(self.plan.live_at_start(number + 1) & changed, key=self.plan.slots.__getitem__):
            kept += self._saved(name, self.plan.variables[name], number)
        return [*kept, f"  ret i32 {number + 1}"]


def _brought(barrier: Barrier, number: int) -> list[str]:
    """Store the value, and the mask if there is one, for the other threads."""
    lines: list[str] = []
    address = f"%wp.brought.{number}"
    if (barrier.is_wave and not barrier.matrix) or barrier.value != "0":
        value = barrier.value
        if not barrier.is_wave:
            value = f"{address}.wide"
            lines.append(f"  {value} = zext i32 {barrier.value} to i64")
        lines.append(f"  {address} = getelementptr i64, ptr {_BROUGHT}, i64 %wp.thread")
        lines.append(f"  store i64 {value}, ptr {address}")
    if barrier.mask != "0":
        lines.append(f"  {address}.masks = getelementptr i8, ptr {_AREA}, i64 {MASKS}")
        lines.append(f"  {address}.mask = getelementptr i64, ptr {address}.masks, i64 %wp.thread")
        lines.append(f"  store i64 {barrier.mask}, ptr {address}.mask")
    return lines
