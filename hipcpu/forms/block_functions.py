"""The function that runs a whole block of a kernel with uniform control flow.

If all threads come to the same barriers, the next barrier is chosen once for the block: the loops over threads follow
each other as in a program written that way, and LLVM sees all of them. A uniform variable is a single variable. At a
barrier of wavefronts nothing is copied: the values that threads brought become those that they show, and vice versa.

If the host side visibly launches a kernel with barriers in one or two shapes of block, each of these gets its own
function, with the numbers of threads as constants, and any other shape a slow one. Without barriers that gains little,
and a kernel with many regions takes long enough to compile once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hipcpu.forms.barrier_area import BROUGHT, VALUES
from hipcpu.forms.barrier_regions import REST
from hipcpu.forms.thread_loops import RegionCall, Threads, index_loads, too_many
from hipcpu.ir.index_values import parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hipcpu.forms.barrier_regions import Regions
    from hipcpu.forms.region_plan import RegionPlan, Uniform
    from hipcpu.forms.thread_loops import LoopWriter
    from hipcpu.ir.launch_shapes import Shape

COUNT_PREDICATES = "declare void @__wp_count_predicates(ptr, ptr, i32)"
"""Declaration of the runtime's function that counts the predicates brought to a barrier."""

_PARAMETERS = (
    "ptr noalias readonly %arguments, ptr noalias readonly %index, ptr noalias %wp.context, "
    "ptr noalias %wp.barrier_area"
)
_PASSED_ON = "ptr %arguments, ptr %index, ptr %wp.context, ptr %wp.barrier_area"
_DIMENSIONS = ("block_dim_x", "block_dim_y", "block_dim_z")


def block_symbol(kernel: str, shape: Shape | None = None) -> str:
    """Return the symbol of the function that runs a block of `shape`, or of any shape."""
    return f'@"__wp_block.{kernel}{"".join(f".{size}" for size in shape or ())}"'


@dataclass(frozen=True)
class BlockCode:
    """Common parts of one kernel's functions; `loads` fetch its arguments and `arguments` passes them on."""

    kernel: str
    loads: Sequence[str]
    arguments: Sequence[str]
    regions: Regions
    writer: LoopWriter

    @property
    def _plan(self) -> RegionPlan:
        return self.regions.plan

    def functions(self, shapes: Sequence[Shape]) -> list[str]:
        """Return the function for any block, and functions of their own for `shapes` if these pay."""
        frequent = shapes if self._plan.barriers and not too_many(len(self.regions.functions)) else ()
        return [self._any_shape(frequent), *(self._one_shape(shape) for shape in frequent)]

    def _any_shape(self, shapes: Sequence[Shape]) -> str:
        lines = [f"define internal void {block_symbol(self.kernel)}({_PARAMETERS}) {{", "entry:", *index_loads()]
        for number, shape in enumerate(shapes):
            lines += _choice(number, shape, block_symbol(self.kernel, shape))
        threads = Threads(("0", "0", "0"), _operands([parameter(name) for name in _DIMENSIONS]))
        body = self._body(block_symbol(self.kernel), replace(threads, rare=bool(shapes)))
        return "\n".join([*lines, *body, "}"])

    def _one_shape(self, shape: Shape) -> str:
        symbol = block_symbol(self.kernel, shape)
        header = f"define internal void {symbol}({_PARAMETERS}) {{"
        sizes = _operands([str(size) for size in shape])
        threads = Threads(("0", "0", "0"), sizes, dict(zip(_DIMENSIONS, sizes, strict=True)))
        return "\n".join([header, "entry:", *index_loads(), *self._body(symbol, threads), "}"])

    def _body(self, symbol: str, threads: Threads) -> list[str]:
        lines = [
            *self.loads,
            f"  %brought.first = getelementptr i8, ptr %wp.barrier_area, i64 {BROUGHT}",
            f"  %values.first = getelementptr i8, ptr %wp.barrier_area, i64 {VALUES}",
            "  %brought.now = alloca ptr",
            "  %values.now = alloca ptr",
            "  store ptr %brought.first, ptr %brought.now",
            "  store ptr %values.first, ptr %values.now",
            *(f"  {uniform.variable} = alloca {uniform.type}" for uniform in self._plan.kept),
            "  br label %r0",
        ]
        for number in range(len(self.regions.functions)):
            lines += self._region(symbol, number, threads)
        for number in range(len(self._plan.barriers)):
            lines += self._barrier(number, threads)
        if self._plan.divergent:
            lines += self._rest(symbol, threads)
        return [*lines, "end:", "  ret void"]

    def _region(self, symbol: str, number: int, threads: Threads) -> list[str]:
        r = f"r{number}"
        lines, passed = self._passed(r, self._plan.uniforms(number))
        exits = self._plan.exits(number)
        parts = bool(set(exits) & set(self._plan.divergent))
        function = self.regions.functions[number]
        call = RegionCall(self.kernel, number, function, self.arguments, passed, parts, threads.rare, self._plan.kept)
        narrowing, fewer = _narrowed(r, threads, self._plan.first_threads(number))
        lines = [f"{r}:", *lines, *narrowing, *self._loop(call, fewer, symbol)]
        if parts:
            lines += [
                f"  %{r}.same = icmp eq i32 %{r}.or.new, %{r}.and.new",
                f"  br i1 %{r}.same, label %{r}.together, label %r{REST}",
                f"{r}.together:",
            ]
        return [*lines, _onwards(f"%{r}.id", exits)]

    def _rest(self, symbol: str, threads: Threads) -> list[str]:
        """Return the code that takes each thread that has left the others to a place that all reach."""
        r = f"r{REST}"
        lines, passed = self._passed(r, self._plan.rest_uniforms())
        call = RegionCall(
            self.kernel, REST, self.regions.rest, self.arguments, passed, rarely=True, kept=self._plan.kept
        )
        places = [place for place in self._plan.places if place not in self._plan.divergent]
        return [f"{r}:", *lines, *self._loop(call, threads, symbol), _onwards(f"%{r}.id", places)]

    def _loop(self, call: RegionCall, threads: Threads, symbol: str) -> list[str]:
        return self.writer.loop_of_many(call, threads, symbol, len(self.regions.functions))

    def _passed(self, r: str, uniforms: Sequence[Uniform]) -> tuple[list[str], list[str]]:
        """Return the IR that fetches a region's extra arguments, and these arguments."""
        lines = [f"  %{r}.brought = load ptr, ptr %brought.now", f"  %{r}.values = load ptr, ptr %values.now"]
        passed = ["ptr %wp.context", "ptr %wp.barrier_area", f"ptr %{r}.brought", f"ptr %{r}.values"]
        passed += [f"ptr {uniform.variable}" for uniform in self._plan.kept]
        for uniform in uniforms:
            lines += self._fetched(f"%{r}.uniform.{uniform.slot}", uniform)
            passed.append(f"{uniform.type} %{r}.uniform.{uniform.slot}")
        return lines, passed

    def _fetched(self, name: str, uniform: Uniform) -> list[str]:
        if not uniform.each:
            return [f"  {name} = load {uniform.type}, ptr {uniform.variable}"]
        place = f"ptr %wp.context, i64 0, i32 {uniform.slot}, i64 0"
        return [
            f"  {name}.p = getelementptr {self._plan.context}, {place}",
            f"  {name} = load {uniform.type}, ptr {name}.p",
        ]

    def _barrier(self, number: int, threads: Threads) -> list[str]:
        m, barrier = f"m{number}", self._plan.barriers[number]
        lines = [f"{m}:"]
        if barrier.is_wave:
            lines += [
                f"  %{m}.brought = load ptr, ptr %brought.now",
                f"  %{m}.values = load ptr, ptr %values.now",
                f"  store ptr %{m}.brought, ptr %values.now",
                f"  store ptr %{m}.values, ptr %brought.now",
            ]
        elif barrier.has_mask:
            x, y, z = threads.end
            lines += [
                f"  %{m}.brought = load ptr, ptr %brought.now",
                f"  %{m}.rows = mul i32 {y}, {z}",
                f"  %{m}.threads = mul i32 %{m}.rows, {x}",
                f"  call void @__wp_count_predicates(ptr %wp.barrier_area, ptr %{m}.brought, i32 %{m}.threads)",
            ]
        return [*lines, f"  br label %r{number + 1}"]


def _operands(values: Sequence[str]) -> tuple[str, str, str]:
    x, y, z = values
    return x, y, z


def _narrowed(r: str, threads: Threads, first: int | None) -> tuple[list[str], Threads]:
    """Limit a loop to the first threads of each row; returns the IR and the threads."""
    x, y, z = threads.end
    if first is None or first == 0:
        return [], threads
    if x.isdigit():
        return [], replace(threads, end=(str(min(first, int(x))), y, z))
    lines = [
        f"  %{r}.fewer = icmp ult i32 {x}, {first}",
        f"  %{r}.end.x = select i1 %{r}.fewer, i32 {x}, i32 {first}",
    ]
    return lines, replace(threads, end=(f"%{r}.end.x", y, z))


def _onwards(answer: str, places: Sequence[int]) -> str:
    if not places:
        # No thread ever leaves the region.
        return f"  br label {_place(0)}"
    if len(places) == 1:
        return f"  br label {_place(places[0])}"
    cases = " ".join(f"i32 {place}, label {_place(place)}" for place in places[1:])
    return f"  switch i32 {answer}, label {_place(places[0])} [ {cases} ]"


def _place(answer: int) -> str:
    return f"%m{answer - 1}" if answer else "%end"


def _choice(number: int, shape: Shape, symbol: str) -> list[str]:
    same = [
        f"  %is.{number}.{axis} = icmp eq i32 {parameter(name)}, {size}"
        for axis, name, size in zip("xyz", _DIMENSIONS, shape, strict=True)
    ]
    return [
        *same,
        f"  %is.{number}.xy = and i1 %is.{number}.x, %is.{number}.y",
        f"  %is.{number} = and i1 %is.{number}.xy, %is.{number}.z",
        f"  br i1 %is.{number}, label %shape.{number}, label %not.{number}",
        f"shape.{number}:",
        f"  tail call void {symbol}({_PASSED_ON})",
        "  ret void",
        f"not.{number}:",
    ]
