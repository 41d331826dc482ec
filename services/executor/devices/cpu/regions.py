"""Cut a kernel at the places where its threads wait for each other (loop fission).

Theory of operation
-------------------
A region is what one thread does from its start, or from the place where it last waited, to the next place where it
waits or to its end. The kernel's control flow is cut after every meeting (a barrier or a cross-lane operation, each in
a block of its own by now), and each piece becomes a function: region 0 from the start, region n + 1 from after meeting
n. Blocks that several regions can reach are in each of them. A region returns where its thread has come: m + 1 for
meeting m, which is also the region to go on with, or 0 at the end. So "run region r for all threads of the block, then
look at the answers" executes the kernel, and running one region for all threads is a loop without dependences, which
LLVM vectorises (`thread_loops`).

LLVM's reg2mem has turned every value that crosses blocks into a private variable before. A variable whose value may be
read after some meeting (by liveness) is kept in the context: an array with one element per thread. It is copied into a
private variable of the region when the region begins, and back when the thread comes to a meeting after which it is
alive, so that within a region it is in a register. Variables that are more than one value (arrays, or anything whose
address is taken) lie in the context all the time: were they on the stack, all threads of a vectorised loop would share
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.devices.cpu.blocks import (
    Block,
    Variable,
    blocks_of,
    is_declaration,
    live_at_entry,
    names_in,
    reachable,
    variables_of,
)
from services.executor.devices.cpu.derived_values import needed
from services.executor.devices.cpu.index_values import declarations
from services.executor.devices.cpu.synchronisation import Meeting, after_label, meeting_in, meeting_label
from services.executor.devices.cpu.uniformity import uniform_variables
from services.executor.devices.cpu.wave_values import with_wave_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.cpu.derived_values import Derived
    from services.executor.devices.cpu.ir_text import Function

MEETING_AREA = "%wp.meeting_area"


@dataclass(frozen=True)
class Regions:
    """A kernel cut into region functions."""

    functions: tuple[str, ...]
    """Their IR, in order; the symbols are `region_symbol(kernel, number)`."""
    meetings: tuple[Meeting, ...]
    context: str
    """The IR type of the context."""
    uniforms: tuple[tuple[Uniform, ...], ...]
    """For each region, the uniform variables that it is passed, in order."""


@dataclass(frozen=True)
class Uniform:
    """A uniform variable: its IR type and its place in the context, an array of the value before and after a region."""

    type: str
    slot: int


def region_symbol(kernel: str, number: int) -> str:
    """The symbol of a region function of the kernel called `kernel`."""
    return f'@"__wp_region.{kernel}.{number}"'


def regions_of(kernel: str, function: Function, meeting_count: int, derived: tuple[Derived, ...]) -> Regions:
    """Cut a kernel whose meetings are apart and whose other values are in private variables, or derived."""
    blocks = blocks_of(function.body)
    cutter = _Cutter(kernel, function, blocks, meeting_count, derived)
    functions = tuple(cutter.region(number) for number in range(meeting_count + 1))
    uniforms = tuple(cutter.uniforms(number) for number in range(meeting_count + 1))
    return Regions(functions, cutter.meetings, cutter.context, uniforms)


class _Cutter:
    def __init__(
        self,
        kernel: str,
        function: Function,
        blocks: dict[str, Block],
        meeting_count: int,
        derived: tuple[Derived, ...],
    ) -> None:
        self._kernel = kernel
        self._derived = derived
        self._blocks = blocks
        self._parameters = ", ".join(f"{p.declaration} {p.value}" for p in function.parameters)
        self._variables = variables_of(blocks)
        simple = {name for name, variable in self._variables.items() if variable.simple}
        self._live = live_at_entry(blocks, simple)
        self._stops = {meeting_label(number) for number in range(meeting_count)}
        after = [self._live[after_label(number)] for number in range(meeting_count)]
        kept = frozenset[str]().union(*after) | (self._variables.keys() - simple)
        self._slots = {name: number for number, name in enumerate(name for name in self._variables if name in kept)}
        self.meetings = tuple(self._meeting(number) for number in range(meeting_count))
        self._uniform = uniform_variables(blocks, self._variables, derived, self._stops)
        self.context = "{ " + ", ".join(self._slot_type(name) for name in self._slots) + " }"

    def _slot_type(self, name: str) -> str:
        if name in self._uniform:
            return f"[2 x {self._variables[name].type}]"
        return f"[1024 x {_stored_type(self._variables[name])}]"

    def _live_at_start(self, number: int) -> frozenset[str]:
        return frozenset() if number == 0 else self._live[after_label(number - 1)]

    def uniforms(self, number: int) -> tuple[Uniform, ...]:
        """The uniform variables that are alive at the start of a region."""
        names = sorted(self._live_at_start(number) & self._uniform, key=self._slots.__getitem__)
        return tuple(Uniform(self._variables[name].type, self._slots[name]) for name in names)

    def _meeting(self, number: int) -> Meeting:
        found = [meeting for line in self._blocks[meeting_label(number)].lines if (meeting := meeting_in(line))]
        return found[0]

    def region(self, number: int) -> str:
        """The IR of one region function."""
        start = next(iter(self._blocks)) if number == 0 else after_label(number - 1)
        labels = reachable(self._blocks, start, self._stops)
        body: list[str] = []
        for label in labels:
            body += ["", f"{label[1:]}:", *self._block(label)]
        used = {name for line in body for name in names_in(line) if name in self._variables}
        entry = [d.line for d in needed(self._derived, {name for line in body for name in names_in(line)})]
        entry += self._entry(used, self._live_at_start(number))
        parameters = self._all_parameters(number)
        header = f"define internal i32 {region_symbol(self._kernel, number)}({parameters}) alwaysinline {{"
        return "\n".join([header, "wp.entry:", *entry, f"  br label {start}", *body, "}"])

    def _all_parameters(self, number: int) -> str:
        ours = f"{declarations()}, i64 %wp.thread, ptr %wp.context, ptr {MEETING_AREA}, i64 %wp.after_side"
        ours += "".join(f", {uniform.type} %wp.uniform.{uniform.slot}" for uniform in self.uniforms(number))
        return f"{self._parameters}, {ours}" if self._parameters else ours

    def _entry(self, used: set[str], live: frozenset[str]) -> list[str]:
        lines: list[str] = []
        for name, variable in self._variables.items():
            if name not in used and name not in live:
                continue
            if not variable.simple:
                lines.append(f"  {name} = {self._slot_address(name)}")
                continue
            lines.append(f"  {name} = alloca {variable.type}")
            if name in live:
                lines += self._restored(name, variable)
        return lines

    def _slot_address(self, name: str, element: str = "%wp.thread") -> str:
        return f"getelementptr {self.context}, ptr %wp.context, i64 0, i32 {self._slots[name]}, i64 {element}"

    def _restored(self, name: str, variable: Variable) -> list[str]:
        if name in self._uniform:
            return [f"  store {variable.type} %wp.uniform.{self._slots[name]}, ptr {name}"]
        slot = f"%wp.restore.{self._slots[name]}"
        lines = [f"  {slot}.p = {self._slot_address(name)}"]
        if variable.type == "i1":
            lines += [f"  {slot}.b = load i8, ptr {slot}.p", f"  {slot} = trunc i8 {slot}.b to i1"]
        else:
            lines.append(f"  {slot} = load {variable.type}, ptr {slot}.p")
        return [*lines, f"  store {variable.type} {slot}, ptr {name}"]

    def _saved(self, name: str, variable: Variable, number: int) -> list[str]:
        slot = f"%wp.save.{number}.{self._slots[name]}"
        element = "%wp.after_side" if name in self._uniform else "%wp.thread"
        lines = [f"  {slot}.p = {self._slot_address(name, element)}", f"  {slot} = load {variable.type}, ptr {name}"]
        if variable.type == "i1":
            return [*lines, f"  {slot}.b = zext i1 {slot} to i8", f"  store i8 {slot}.b, ptr {slot}.p"]
        return [*lines, f"  store {variable.type} {slot}, ptr {slot}.p"]

    def _block(self, label: str) -> list[str]:
        lines = [line for line in self._blocks[label].lines if not is_declaration(line)]
        if label in self._stops:
            return self._arrival(int(label.rpartition(".")[2]), lines)
        return ["  ret i32 0" if line == "  ret void" else line for line in with_wave_values(lines)]

    def _arrival(self, number: int, lines: Sequence[str]) -> list[str]:
        meeting = self.meetings[number]
        kept = [line for line in lines[:-1] if not meeting_in(line)]
        kept += _brought(meeting, number)
        for name in sorted(self._live[after_label(number)], key=self._slots.__getitem__):
            kept += self._saved(name, self._variables[name], number)
        return [*kept, f"  ret i32 {number + 1}"]


def _stored_type(variable: Variable) -> str:
    return "i8" if variable.type == "i1" else variable.type


def _brought(meeting: Meeting, number: int) -> list[str]:
    """Show the value, and the mask where there is one, to the others."""
    lines: list[str] = []
    for field, operand, kind in ((0, meeting.value, "i64" if meeting.is_wave else "i32"), (1, meeting.mask, "i64")):
        if operand == "0" and (field == 1 or not meeting.is_wave):
            continue
        address = f"%wp.brought.{number}.{field}"
        lines.append(f"  {address} = getelementptr [1024 x i64], ptr {MEETING_AREA}, i64 {field}, i64 %wp.thread")
        value = operand
        if kind == "i32":
            value = f"{address}.wide"
            lines.append(f"  {value} = zext i32 {operand} to i64")
        lines.append(f"  store i64 {value}, ptr {address}")
    return lines
