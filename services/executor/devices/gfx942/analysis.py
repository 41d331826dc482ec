"""The report of one submission, from the compiler's IR and assembly; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.module import Module
from services.executor.devices.gfx942.accesses import accesses_of
from services.executor.devices.gfx942.addresses import Addresses, row_lengths
from services.executor.devices.gfx942.assembly import (
    MATRIX_INSTRUCTIONS,
    Code,
    Figures,
    codes_from_assembly,
    figures_from_assembly,
)
from services.executor.devices.gfx942.hints.arithmetic import arithmetic_hints
from services.executor.devices.gfx942.hints.hint import Hint, chosen
from services.executor.devices.gfx942.hints.memory import memory_hints
from services.executor.devices.gfx942.hints.resources import resource_hints
from services.executor.devices.gfx942.kernel import Kernel, kernels_of
from services.executor.devices.gfx942.listing import listing_of
from services.executor.devices.gfx942.occupancy import (
    LDS_BYTES,
    MAX_BLOCK_THREADS,
    Demand,
    Occupancy,
    occupancy_of,
    saving_for_next_step,
)

_ADDRESS_OF = re.compile(r"([\w$.]+)@(?:gotpcrel32|rel32)@lo")

MAX_KERNELS = 200
ASSUMED_BLOCK_THREADS = 256
"""Block size assumed if a kernel does not give one in __launch_bounds__."""


@dataclass(frozen=True)
class Texts:
    """The compiler's output, with the submission's text as `source` and its name as `file`; `ir` may be empty."""

    assembly: str
    source: str
    file: str
    ir: str = ""


def report_of(texts: Texts) -> dict[str, Any]:
    """Return `kernels` by their names in the source, with `kernel_count`, and `listing`, with `listing_cut`."""
    codes = codes_from_assembly(texts.assembly, texts.file)
    figures = [each for each in figures_from_assembly(texts.assembly) if each.name in codes]
    module = Module.from_text(texts.ir)
    kernels = {kernel.symbol: kernel for kernel in kernels_of(module)}
    places = DebugLocations(module, texts.file)
    titles = _titles(figures, kernels, places)
    listing, cut = listing_of(codes.values(), texts.source.splitlines())
    declared = frozenset(symbol[1:] for symbol in module.declarations)
    entries: dict[str, dict[str, Any]] = {}
    for each in figures[:MAX_KERNELS]:
        missing = sorted(_uncounted(codes[each.name], codes, declared))
        entry = _entry(each, codes[each.name], kernels.get(each.name), places)
        entries[titles[each.name]] = {**entry, "uncounted": missing}
    return {"kernels": entries, "kernel_count": len(figures), "listing": listing, "listing_cut": cut}


def _entry(figures: Figures, code: Code, kernel: Kernel | None, places: DebugLocations) -> dict[str, Any]:
    mfma = sum(item.mnemonic.startswith(MATRIX_INSTRUCTIONS) for item in code.instructions)
    demand, known = _demand(figures)
    fits = demand.lds_bytes <= LDS_BYTES
    occupancy = occupancy_of(demand) if fits else None
    hints: list[Hint] = []
    if occupancy is not None:
        hints += resource_hints(code, figures, demand, occupancy, known=known)
    if kernel is not None:
        hints += _ir_hints(kernel, places, mfma=mfma)
    return {
        "symbol": figures.name,
        "line": places.subprogram(kernel.function.subprogram)[1] if kernel else 0,
        **_resources(figures, occupancy),
        "block_threads": demand.block_threads,
        "block_threads_known": known,
        "next_step_saving": (saving_for_next_step(demand) or (None, 0))[1] if fits else 0,
        "dynamic_lds": kernel is not None and kernel.dynamic_lds,
        "mfma": mfma,
        "instructions": sum(1 for _ in code.instructions),
        "hints": [asdict(hint) for hint in chosen(hints)],
    }


def _resources(figures: Figures, occupancy: Occupancy | None) -> dict[str, Any]:
    agpr = figures["agpr_count"]
    return {
        "vgpr": figures["vgpr_count"] - agpr if agpr else figures["vgpr_count"],
        "sgpr": figures["sgpr_count"],
        "agpr": agpr,
        "lds_bytes": figures["group_segment_fixed_size"],
        "scratch_bytes": figures["private_segment_fixed_size"],
        "spills": figures["vgpr_spill_count"] + figures["sgpr_spill_count"],
        "vgpr_spills": figures["vgpr_spill_count"],
        "occupancy": occupancy.wavefronts if occupancy else 0,
        "limited_by": occupancy.limit.value if occupancy else "lds",
    }


def _demand(figures: Figures) -> tuple[Demand, bool]:
    """Return the kernel's demand, and whether its block size is known.

    On gfx942 `.vgpr_count` counts all of a lane's registers: architected ones, rounded up, and accumulation ones.
    """
    most = figures["max_flat_workgroup_size"] or MAX_BLOCK_THREADS
    known = most < MAX_BLOCK_THREADS
    threads = most if known else ASSUMED_BLOCK_THREADS
    return Demand(figures["vgpr_count"], figures["sgpr_count"], figures["group_segment_fixed_size"], threads), known


def _ir_hints(kernel: Kernel, places: DebugLocations, *, mfma: int) -> Iterator[Hint]:
    addresses = Addresses(kernel)
    accesses = list(accesses_of(kernel, addresses))
    lengths = row_lengths(kernel, addresses)
    yield from memory_hints(accesses, lengths, lambda access: places.line(access.instruction))
    loads = {access.instruction.result: access for access in accesses if not access.is_store}
    for hint in arithmetic_hints(kernel, addresses, loads, places.line):
        if not (mfma and hint.subject == "no-mfma"):
            yield hint


def _uncounted(code: Code, codes: Mapping[str, Code], declared: frozenset[str]) -> set[str]:
    """Return the functions without code here that a kernel, or a function whose address it takes, calls."""
    found, seen, waiting = set[str](), {code.name}, [code]
    while waiting:
        current = waiting.pop()
        found |= current.uncounted
        named = set(_ADDRESS_OF.findall("\n".join(item.operands for item in current.instructions)))
        found |= named & declared
        fresh = (named & codes.keys()) - seen
        seen |= fresh
        waiting += [codes[name] for name in fresh]
    return found


def _titles(figures: Iterable[Figures], kernels: Mapping[str, Kernel], places: DebugLocations) -> dict[str, str]:
    """Return the kernels' names in the source, with template arguments, and with the symbol if several share a name."""
    names = {each.name: _name(kernels.get(each.name), places) or each.name for each in figures}
    count = Counter(names.values())
    return {symbol: name if count[name] == 1 else f"{name} [{symbol}]" for symbol, name in names.items()}


def _name(kernel: Kernel | None, places: DebugLocations) -> str:
    return places.subprogram(kernel.function.subprogram)[0] if kernel else ""
