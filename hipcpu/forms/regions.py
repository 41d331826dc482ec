"""Cut a kernel at the places where its threads wait for each other (loop fission).

Theory of operation
-------------------
A region is what one thread does from its start, or from the place where it last waited, to the next place where it
waits or to its end. The kernel's control flow is cut after every barrier (of the block, or a cross-lane operation; each
is in a block of its own by now), and each piece becomes a function: region 0 from the start, region n + 1 from after
barrier n. Blocks that several regions can reach are in each of them. A region returns where its thread has come: m + 1
for barrier m, which is also the region to go on with, or 0 at the end. So "run region r for all threads of the block,
then look at the answers" executes the kernel, and running one region for all threads is a loop without dependences,
which LLVM vectorises (`thread_loops`).

LLVM's reg2mem has turned every value that crosses blocks into a private variable before. A variable whose value may be
read after some barrier (by liveness) is kept in the context: an array with one element per thread. It is copied into a
private variable of the region when the region begins, and back when the thread comes to a barrier after which it is
alive, so that within a region it is in a register. Variables that are more than one value (arrays, or anything whose
address is taken) lie in the context all the time: were they on the stack, all threads of a vectorised loop would share
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hipcpu.forms.region_code import RegionCode
from hipcpu.forms.region_plan import RegionPlan
from hipcpu.ir.text import parameters_text

if TYPE_CHECKING:
    from hipcpu.forms.region_plan import Uniform
    from hipcpu.ir.function import Blocks, Function
    from hipcpu.ir.instruction import Instruction
    from hipcpu.ir.synchronisation import Barrier
    from hipcpu.ir.text import Operand


@dataclass(frozen=True)
class Regions:
    """A kernel cut into region functions."""

    functions: tuple[Function, ...]
    """In order; the symbols are `region_symbol(kernel, number)`."""
    barriers: tuple[Barrier, ...]
    """Split points come after all others."""
    context: str
    """The IR type of the context."""
    uniforms: tuple[tuple[Uniform, ...], ...]
    """For each region, the uniform variables that it is passed, in order."""
    exits: tuple[tuple[int, ...], ...]
    """For each region, what it may return."""
    uniform_control: bool
    """Whether all threads return the same from each region, but for those that are at one of `divergent`."""
    divergent: tuple[int, ...] = ()
    """What a region returns to which threads may come that others do not."""
    rest: Function | None = None
    """What takes a thread from one of `divergent` to where all come, and others nowhere; see `region_symbol`."""
    rest_uniforms: tuple[Uniform, ...] = ()
    rest_exits: tuple[int, ...] = ()
    firsts: tuple[int | None, ...] = ()
    """For each region, how many threads of each row have work in it, where that is known to be fewer than all."""

    @property
    def kept(self) -> tuple[Uniform, ...]:
        """Every uniform variable that some region is passed and the block function has."""
        kept = {uniform for region in self.uniforms for uniform in region if not uniform.each}
        return tuple(sorted(kept, key=lambda uniform: uniform.slot))

    @property
    def places(self) -> tuple[int, ...]:
        """All that a region may return."""
        return tuple(sorted({place for exits in (*self.exits, self.rest_exits) for place in exits}))


def regions_of(
    kernel: str,
    parameters: tuple[Operand, ...],
    blocks: Blocks,
    counts: tuple[int, int],
    derived: tuple[Instruction, ...],
) -> Regions:
    """Cut a kernel whose barriers are apart and whose other values are in private variables, or derived.

    It has so many barriers and split points: `counts`.
    """
    plan = RegionPlan(blocks, counts, derived)
    if not plan.uniform_control or plan.overtakes():
        plan = RegionPlan(blocks, (counts[0], 0), derived)
    code = RegionCode(kernel, parameters_text(parameters), plan)
    numbers = range(len(plan.barriers) + 1)
    cut = Regions(
        tuple(code.region(number) for number in numbers),
        plan.barriers,
        plan.context,
        tuple(plan.uniforms(number) for number in numbers),
        tuple(plan.exits(number) for number in numbers),
        plan.uniform_control,
        firsts=tuple(plan.first_threads(number) for number in numbers),
    )
    if not plan.divergent:
        return cut
    return replace(
        cut,
        divergent=plan.divergent,
        rest=code.rest(),
        rest_uniforms=plan.rest_uniforms(),
        rest_exits=plan.rest_exits(),
    )
