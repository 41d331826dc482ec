"""The MI300X report: the compiler's figures for each kernel of a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class KernelHint:
    """An improvement for the author of a kernel, and the evidence for it; `line` is 0 for the whole kernel."""

    subject: str
    line: int
    what: str
    why: str
    advice: str


@dataclass(frozen=True)
class KernelReport:
    """The gfx942 compiler's figures for one kernel.

    `occupancy` is wavefronts on each SIMD, with blocks of `block_threads`; `limited_by` is the resource that keeps more
    from fitting (`wavefronts`: no other), and `next_step_saving` how many registers of a lane or bytes of LDS less
    would let one more fit (0: the limit is another, or this alone does not help). `mfma` counts instructions for the
    matrix cores, `spills` registers of both kinds, `vgpr_spills` those that go to scratch memory. The code of the
    functions in `uncounted` is not in the figures.
    """

    vgpr: int
    sgpr: int
    agpr: int
    lds_bytes: int
    scratch_bytes: int
    spills: int
    occupancy: int
    symbol: str = ""
    line: int = 0
    vgpr_spills: int = 0
    limited_by: str = ""
    block_threads: int = 0
    block_threads_known: bool = False
    dynamic_lds: bool = False
    mfma: int = 0
    instructions: int = 0
    uncounted: tuple[str, ...] = ()
    hints: tuple[KernelHint, ...] = ()
    next_step_saving: int = 0


@dataclass(frozen=True)
class IsaReport:
    """The MI300X report on a source; `note` says why there are no kernels, or how to read them.

    `refused` says what AMD's compiler refuses in the source; it is empty if it takes the source, or was not asked.
    """

    toolchain: str = ""
    note: str = ""
    kernels: Mapping[str, KernelReport] = field(default_factory=dict[str, KernelReport])
    refused: str = ""
