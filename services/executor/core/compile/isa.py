"""The MI300X report on a source: made in a sandbox, cached, and unable to fail a run.

If anything goes wrong, the report is empty and says why. The sandbox's output is untrusted: its size is bounded, and
every field is checked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from hipcpu.build_folder import ToolchainError
from services.executor.core.compile.cache import CachedBuild, CompileCache
from services.executor.core.model.failure import Failure
from services.executor.core.model.isa_report import IsaReport, KernelReport
from services.executor.core.model.limits import COMPILER_PROCESSES
from services.executor.core.sandbox.running import run_to_end
from services.executor.devices.device import Inspector, Toolchain
from services.executor.sandboxes.sandbox import Limits, Sandbox
from services.executor.sandboxes.sandbox_files import LeftFileError, new_source_folder, read_left

MAX_SHOWN_KERNELS = 32
"""The most kernels that an event shows; a listing has them all."""
_MOST_BYTES = 4 << 20
_MOST_TEXT = 400
_REPORT = "report.json"
_REPORTS = TypeAdapter(IsaReport)
_FAILED = "The report for the MI300X failed; the run is not touched by that."


def _limits() -> Limits:
    # As in the builder, the processor time limits the source; wall time is longer, as a compiler waits on a busy
    # machine.
    return Limits(
        wall=timedelta(seconds=30),
        busy_wall=timedelta(seconds=80),
        cpu=timedelta(seconds=20),
        memory_mib=2048,
        processes=COMPILER_PROCESSES,
        file_mib=16,
        output_bytes=64 << 10,
    )


@dataclass(frozen=True)
class Inspection:
    """A report, and the ISA with source lines, as text."""

    report: IsaReport
    listing: str = ""


@dataclass(frozen=True)
class IsaReporter:
    """Makes reports with `inspector` and keeps them in `cache`."""

    inspector: Inspector
    sandbox: Sandbox
    cache: CompileCache
    limits: Limits = field(default_factory=_limits)

    async def inspect(self, source: str, scratch: Path) -> Inspection:
        """Returns the report on `source`, using the new folder `scratch`; raises only CancelledError."""
        try:
            toolchain = self.inspector.toolchain()
        except ToolchainError as error:
            return _without(f"There is no compiler for the MI300X here: {error}")
        key = hashlib.sha256(f"isa {toolchain.identity} {source}".encode(errors="replace")).hexdigest()
        cached = self.cache.get(key)
        if cached is not None:
            with suppress(_NoReportError):
                return _inspection(cached.executable)
        try:
            data = await self._make(source, scratch)
            inspection = _inspection(data)
        except (Failure, OSError, LeftFileError, _NoReportError) as error:
            return _without(f"{_FAILED} {error}", toolchain)
        self.cache.put(key, CachedBuild.of(data, ""))
        return inspection

    @asynccontextmanager
    async def reporting(self, source: str, scratch: Path) -> AsyncGenerator[asyncio.Task[Inspection]]:
        """Makes the report while the block runs; it is cancelled if the block leaves first."""
        task = asyncio.create_task(self.inspect(source, scratch))
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _make(self, source: str, scratch: Path) -> bytes:
        new_source_folder(scratch, source)
        end = await run_to_end(self.sandbox, self.inspector.command(scratch), self.limits)
        if end.code != 0:
            took_long = end.wall_exceeded or end.cpu_exceeded
            how = "It took too long." if took_long else f"It ended with status {end.code}, signal {end.signal}."
            raise _NoReportError(_reason(end.stderr, how))
        return read_left(scratch / _REPORT, _MOST_BYTES)


class _NoReportError(Exception):
    """The sandbox left no valid report; the message says why."""


def _reason(stderr: bytes, otherwise: str) -> str:
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1][:_MOST_TEXT] if lines else otherwise


def _inspection(data: bytes) -> Inspection:
    """Reads the sandbox's report and checks every field; raises _NoReportError."""
    try:
        parsed: object = json.loads(data)
        if not isinstance(parsed, dict):
            raise _NoReportError("It is no object.")
        report = _REPORTS.validate_json(data, strict=True)
        listing = cast("dict[str, Any]", parsed).get("listing", "")
    except ValidationError as error:
        (first, *_) = error.errors()
        raise _NoReportError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:_MOST_TEXT]) from error
    except (ValueError, RecursionError) as error:
        raise _NoReportError(str(error)[:_MOST_TEXT]) from error
    return Inspection(_bounded(report), listing if isinstance(listing, str) else "")


def _bounded(report: IsaReport) -> IsaReport:
    """Cuts the fields so that none of them can flood an event."""
    kernels = {_cut(name): replace(kernel, symbol=_cut(kernel.symbol)) for name, kernel in list(report.kernels.items())}
    note, refused = report.note[: 4 * _MOST_TEXT], report.refused[: 4 * _MOST_TEXT]
    return replace(report, note=note, kernels=kernels, refused=refused)


def shown(report: IsaReport) -> IsaReport:
    """The part of a report that events carry: the first kernels, those with hints before the others."""
    if len(report.kernels) <= MAX_SHOWN_KERNELS:
        return report
    chosen: dict[str, KernelReport] = dict(
        sorted(report.kernels.items(), key=lambda item: not item[1].hints)[:MAX_SHOWN_KERNELS]
    )
    more = f"Here are {MAX_SHOWN_KERNELS} of {len(report.kernels)} kernels; `wavepool core isa` shows all."
    return replace(report, kernels=chosen, note=f"{report.note} {more}".strip())


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_TEXT else f"{name[: _MOST_TEXT - 1]}…"


def _without(note: str, toolchain: Toolchain | None = None) -> Inspection:
    return Inspection(IsaReport(toolchain.title if toolchain else "", note))
