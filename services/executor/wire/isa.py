"""What the MI300X's compiler says of a source, from domain to proto."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from wavepool.executor.v1 import run_event_pb2

if TYPE_CHECKING:
    from services.executor.core.model.isa_report import IsaReport, KernelHint, KernelReport


def isa_to_proto(report: IsaReport) -> run_event_pb2.IsaReport:
    """The report; names and texts are made fit for protobuf, which takes only well-formed Unicode."""
    kernels = [_kernel(name, kernel) for name, kernel in report.kernels.items()]
    return run_event_pb2.IsaReport(
        toolchain=well_formed(report.toolchain), note=well_formed(report.note), kernels=kernels
    )


def listing_to_proto(listing: str) -> bytes:
    """The listing compressed, to about a sixth; nothing of nothing."""
    return zlib.compress(listing.encode(errors="replace")) if listing else b""


def _kernel(name: str, kernel: KernelReport) -> run_event_pb2.KernelReport:
    return run_event_pb2.KernelReport(
        name=well_formed(name),
        vgpr=kernel.vgpr,
        sgpr=kernel.sgpr,
        agpr=kernel.agpr,
        lds_bytes=kernel.lds_bytes,
        scratch_bytes=kernel.scratch_bytes,
        spills=kernel.spills,
        occupancy=kernel.occupancy,
        symbol=well_formed(kernel.symbol),
        line=kernel.line,
        vgpr_spills=kernel.vgpr_spills,
        limited_by=well_formed(kernel.limited_by),
        block_threads=kernel.block_threads,
        block_threads_known=kernel.block_threads_known,
        dynamic_lds=kernel.dynamic_lds,
        mfma=kernel.mfma,
        instructions=kernel.instructions,
        uncounted=map(well_formed, kernel.uncounted),
        hints=map(_hint, kernel.hints),
    )


def _hint(hint: KernelHint) -> run_event_pb2.KernelHint:
    return run_event_pb2.KernelHint(
        subject=well_formed(hint.subject),
        line=hint.line,
        what=well_formed(hint.what),
        why=well_formed(hint.why),
        advice=well_formed(hint.advice),
    )


def well_formed(text: str) -> str:
    """The text with what protobuf does not take replaced."""
    return text.encode(errors="replace").decode()
