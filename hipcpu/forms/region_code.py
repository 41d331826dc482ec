"""The IR of region functions, written by a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.forms.meeting_area import MASKS, NEXT
from hipcpu.forms.region_plan import Uniform, number_of
from hipcpu.forms.wave_values import with_wave_values
from hipcpu.ir.blocks import is_declaration, names_in, reachable
from hipcpu.ir.derived_values import needed
from hipcpu.ir.index_values import declarations
from hipcpu.ir.synchronisation import PAUSE, meeting_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hipcpu.forms.region_plan import RegionPlan
    from hipcpu.ir.blocks import Variable
    from hipcpu.ir.synchronisation import Meeting

REST = "rest"

_AREA, _BROUGHT = "%wp.meeting_area", "%wp.brought"


def region_symbol(kernel: str, number: int | str) -> str:
    """The symbol of a region function, or with `REST` of that of the rest, of the kernel called `kernel`."""
    return f'@"__wp_region.{kernel}.{number}"'


class RegionCode:
    """Writes the functions of one kernel, whose own parameters are declared by `parameters`."""

    def __init__(self, kernel: str, parameters: str, plan: RegionPlan) -> None:
        self._kernel = kernel
        self._parameters = parameters
        self._plan = plan

    def region(self, number: int) -> str:
        """The IR of one region function."""
        start = self._plan.start(number)
        body = self._body(reachable(self._plan.blocks, [start], self._plan.stops), self._plan.stops)
        entry = [*self._beginning(body, self._plan.live_at_start(number), self._plan.uniform), f"  br label {start}"]
        header = f"define internal i32 {region_symbol(self._kernel, number)}"
        header += f"({self._all_parameters(self._plan.uniforms(number))}) alwaysinline {{"
        return "\n".join([header, "wp.entry:", *entry, *body, "}"])

    def rest(self) -> str:
        """The IR of the rest function, which looks up where its thread has come."""
        body = self._body(self._plan.rest_labels(), self._plan.rest_stops())
        cases = " ".join(f"i32 {place}, label {self._plan.start(place)}" for place in self._plan.apart)
        entry = [
            *self._beginning(body, self._plan.live_apart(), self._plan.once),
            f"  %wp.places = getelementptr i8, ptr {_AREA}, i64 {NEXT}",
            "  %wp.place.p = getelementptr i32, ptr %wp.places, i64 %wp.thread",
            "  %wp.place = load i32, ptr %wp.place.p",
            f"  switch i32 %wp.place, label %wp.there [ {cases} ]",
            "wp.there:",
            "  ret i32 %wp.place",
        ]
        header = f"define internal i32 {region_symbol(self._kernel, REST)}"
        header += f"({self._all_parameters(self._plan.rest_uniforms())}) {{"
        return "\n".join([header, "wp.entry:", *entry, *body, "}"])

    def _body(self, labels: Sequence[str], stops: set[str]) -> list[str]:
        stored = self._plan.stored_in(labels)
        body: list[str] = []
        for label in labels:
            body += ["", f"{label[1:]}:", *self._block(label, stops, stored)]
        return body

    def _beginning(self, body: Sequence[str], live: frozenset[str], passed: frozenset[str]) -> list[str]:
        names = {name for line in body for name in names_in(line)}
        derived = [definition.line for definition in needed(self._plan.derived, names)]
        return [*derived, *self._entry(names & self._plan.variables.keys(), live, passed)]

    def _all_parameters(self, uniforms: Sequence[Uniform]) -> str:
        ours = f"{declarations()}, i64 %wp.thread, ptr %wp.context, ptr {_AREA}, ptr {_BROUGHT}, ptr %wp.values"
        ours += f", {'i64 %wp.after_side' if not self._plan.together else self._slot_parameters()}".removesuffix(", ")
        ours += "".join(f", {uniform.type} %wp.uniform.{uniform.slot}" for uniform in uniforms)
        return f"{self._parameters}, {ours}" if self._parameters else ours

    def _entry(self, used: set[str], live: frozenset[str], passed: frozenset[str]) -> list[str]:
        lines: list[str] = []
        for name, variable in self._plan.variables.items():
            if name not in used:
                continue
            if not variable.simple:
                lines.append(f"  {name} = {self._slot_address(name)}")
                continue
            lines.append(f"  {name} = alloca {variable.type}")
            if name in live:
                lines += self._restored(name, variable, passed)
        return lines

    def _slot_parameters(self) -> str:
        all_ = (uniform for number in range(len(self._plan.meetings) + 1) for uniform in self._plan.uniforms(number))
        kept = {uniform for uniform in all_ if not uniform.each}
        return ", ".join(f"ptr {uniform.variable}" for uniform in sorted(kept, key=lambda uniform: uniform.slot))

    def _slot_address(self, name: str, element: str = "%wp.thread") -> str:
        return (
            f"getelementptr {self._plan.context}, ptr %wp.context, i64 0, i32 {self._plan.slots[name]}, i64 {element}"
        )

    def _restored(self, name: str, variable: Variable, passed: frozenset[str]) -> list[str]:
        if name in passed:
            return [f"  store {variable.type} %wp.uniform.{self._plan.slots[name]}, ptr {name}"]
        slot = f"%wp.restore.{self._plan.slots[name]}"
        lines = [f"  {slot}.p = {self._slot_address(name)}"]
        if variable.type == "i1":
            lines += [f"  {slot}.b = load i8, ptr {slot}.p", f"  {slot} = trunc i8 {slot}.b to i1"]
        else:
            lines.append(f"  {slot} = load {variable.type}, ptr {slot}.p")
        return [*lines, f"  store {variable.type} {slot}, ptr {name}"]

    def _saved(self, name: str, variable: Variable, number: int) -> list[str]:
        slot = f"%wp.save.{number}.{self._plan.slots[name]}"
        element = "%wp.after_side" if name in self._plan.once else "%wp.thread"
        lines = [f"  {slot} = load {variable.type}, ptr {name}"]
        if name in self._plan.once and self._plan.together:
            return [
                *lines,
                f"  store {variable.type} {slot}, ptr {Uniform(variable.type, self._plan.slots[name]).variable}",
            ]
        lines.append(f"  {slot}.p = {self._slot_address(name, element)}")
        if variable.type == "i1":
            return [*lines, f"  {slot}.b = zext i1 {slot} to i8", f"  store i8 {slot}.b, ptr {slot}.p"]
        return [*lines, f"  store {variable.type} {slot}, ptr {slot}.p"]

    def _block(self, label: str, stops: set[str], stored: frozenset[str]) -> list[str]:
        lines = [line for line in self._plan.blocks[label].lines if not is_declaration(line)]
        if label in stops:
            return self._arrival(number_of(label), lines, stored)
        lines = [line for line in lines if line != PAUSE]
        return ["  ret i32 0" if line == "  ret void" else line for line in with_wave_values(lines)]

    def _arrival(self, number: int, lines: Sequence[str], stored: frozenset[str]) -> list[str]:
        meeting = self._plan.meetings[number]
        kept = [line for line in lines[:-1] if not meeting_in(line)]
        kept += _brought(meeting, number, names_lanes=not self._plan.together)
        # What is passed from one side to the other must be copied; all else is where it was.
        changed = stored if self._plan.together else stored | self._plan.uniform
        for name in sorted(self._plan.live_at_start(number + 1) & changed, key=self._plan.slots.__getitem__):
            kept += self._saved(name, self._plan.variables[name], number)
        return [*kept, f"  ret i32 {number + 1}"]


def _brought(meeting: Meeting, number: int, *, names_lanes: bool) -> list[str]:
    """Show the value, and the mask where there is one, to the others."""
    lines: list[str] = []
    address = f"%wp.brought.{number}"
    if meeting.is_wave or meeting.value != "0":
        value = meeting.value
        if not meeting.is_wave:
            value = f"{address}.wide"
            lines.append(f"  {value} = zext i32 {meeting.value} to i64")
        lines.append(f"  {address} = getelementptr i64, ptr {_BROUGHT}, i64 %wp.thread")
        lines.append(f"  store i64 {value}, ptr {address}")
    if names_lanes and meeting.mask != "0":
        lines.append(f"  {address}.masks = getelementptr i8, ptr {_AREA}, i64 {MASKS}")
        lines.append(f"  {address}.mask = getelementptr i64, ptr {address}.masks, i64 %wp.thread")
        lines.append(f"  store i64 {meeting.mask}, ptr {address}.mask")
    return lines
