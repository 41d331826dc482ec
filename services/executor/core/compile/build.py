"""The compile stage: from a source to an executable, through a sandbox or from the cache."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hipcpu.build_folder import (
    NO_ROOM_STATUS,
    NOT_RECORDABLE,
    OUR_FILES,
    RECORDER,
    REPLAYER,
    SOURCE_OBJECTS,
    BuildKind,
    ToolchainError,
)
from services.executor.core.compile.cache import BuildFacts, CachedBuild, CompileCache
from services.executor.core.compile.code_objects import code_objects
from services.executor.core.compile.compiler_text import (
    compile_error,
    compiler_crash,
    crash_of,
    missing_build,
    without_placeless_warnings,
)
from services.executor.core.compile.forbidden import needed_libraries
from services.executor.core.compile.isa import Inspection, IsaReporter, shown
from services.executor.core.compile.object_symbols import object_symbols
from services.executor.core.model.events import Compiled, Compiling
from services.executor.core.model.events_in_order import EventsInOrder
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.isa_report import IsaReport
from services.executor.core.model.report import canonical_json
from services.executor.core.sandbox.exit_reasons import build_limit_failure
from services.executor.core.sandbox.running import run_to_end
from services.executor.devices.device import Device, Toolchain
from services.executor.sandboxes.sandbox import Command, Exit, Limits, Sandbox
from services.executor.sandboxes.sandbox_files import LeftFileError, new_source_folder, read_left, write_source

_EXECUTABLE_NAMES = {BuildKind.SOLUTION: "runner", BuildKind.KERNELS: "runner", BuildKind.PROGRAM: "program"}
_PROBE = """#include <hip/hip_runtime.h>
__global__ void probe(int* out) { out[threadIdx.x] = blockIdx.x; }
int main() { return 0; }
"""
_MAX_EXECUTABLE_BYTES = 256 << 20


@dataclass(frozen=True)
class Unit:
    """One thing to compile: a source and the C++ that is built with it.

    `harness` is the content of the file in OUR_FILES, empty for a PROGRAM. Messages show `declaration`, the definition
    that the source must have.
    """

    kind: BuildKind
    source: str
    harness: str
    declaration: str


@dataclass(frozen=True)
class Built:
    """A build, while AMD's compiler may still be reading its source."""

    build: CachedBuild
    _telling: asyncio.Task[None]

    async def reported(self) -> None:
        """Wait until AMD's compiler has ended and COMPILED has been passed on."""
        await asyncio.shield(self._telling)


@dataclass(frozen=True)
class Builder:
    """Compiles units for one device, and puts finished executables into the folders that callers name."""

    device: Device
    sandbox: Sandbox
    cache: CompileCache
    limits: Limits
    isa: IsaReporter | None = None

    async def build(self, unit: Unit, scratch: Path, target: Path) -> CachedBuild:
        """Put the executable of `unit` into `target`, using the empty folder `scratch`; raises Failure."""
        toolchain, command = self._toolchain(), self.device.build_command(scratch, unit.kind)
        return await self._build(unit, scratch, target, command, self._key(unit, toolchain, command))

    @asynccontextmanager
    async def reported(
        self, unit: Unit, scratch: Path, target: Path, events: EventsInOrder, completed: Callable[[Compiled], Compiled]
    ) -> AsyncGenerator[Built]:
        """Build as `build` does, and have AMD's compiler read the source beside the build and the block.

        COMPILED is passed on as `completed` returns it, when both compilers have ended; the block's events wait for it.
        """
        begin = time.perf_counter()
        toolchain, command = self._toolchain(), self.device.build_command(scratch, unit.kind)
        key = self._key(unit, toolchain, command)
        cached = self.cache.get(key) is not None
        events(Compiling(toolchain.title, cached=cached, command=toolchain.command))
        async with self._reporting(unit, scratch) as report:
            try:
                build = await self._build(unit, scratch, target, command, key)
            except Failure as failure:
                failure.isa = shown((await _inspection(report)).report)
                raise
            compiled = Compiled(build.warnings, (time.perf_counter() - begin) * 1e3, cached)

            async def tell() -> None:
                found = await _inspection(report)
                warnings = "\n".join(filter(None, (found.report.refused, compiled.warnings)))
                whole = replace(compiled, warnings=warnings, isa=shown(found.report), isa_listing=found.listing)
                events.release(completed(whole))

            with events.kept():
                telling = asyncio.create_task(tell())
                try:
                    yield Built(build, telling)
                except Failure:
                    await telling
                    raise
                else:
                    await telling
                finally:
                    telling.cancel()

    async def _build(self, unit: Unit, scratch: Path, target: Path, command: Command, key: str) -> CachedBuild:
        build = self.cache.get(key)
        if build is None:
            build = await self._compile(unit, scratch, command)
            self.cache.put(key, build)
        install(build.executable, target / _EXECUTABLE_NAMES[unit.kind])
        return build

    def find(self, unit: Unit, scratch: Path) -> CachedBuild | None:
        """Returns the cached build of `unit`, or None; raises Failure."""
        return self.cache.get(self._key(unit, self._toolchain(), self.device.build_command(scratch, unit.kind)))

    @asynccontextmanager
    async def _reporting(self, unit: Unit, scratch: Path) -> AsyncGenerator[asyncio.Task[Inspection] | None]:
        if self.isa is None:
            yield None
            return
        async with self.isa.reporting(unit.source, scratch.with_name("isa")) as report:
            yield report

    def _toolchain(self) -> Toolchain:
        try:
            return self.device.toolchain()
        except ToolchainError as error:
            raise InfrastructureFailure(f"The device has no working compiler: {error}") from error

    def _key(self, unit: Unit, toolchain: Toolchain, command: Command) -> str:
        device = self.device.describe()
        parts = {
            "source": unit.source,
            "kind": unit.kind,
            "harness": unit.harness,
            "toolchain": toolchain.identity,
            "device": [device.name, device.architecture],
            "flags": [list(command.arguments), dict(command.environment)],
        }
        return hashlib.sha256(canonical_json(parts).encode(errors="surrogatepass")).hexdigest()

    async def _compile(self, unit: Unit, scratch: Path, command: Command) -> CachedBuild:
        write_source(scratch / "solution.hip", unit.source)
        if unit.harness:
            write_source(scratch / OUR_FILES[unit.kind], unit.harness)
        end = await run_to_end(self.sandbox, command, self.limits)
        text = _text(end)
        if failure := build_limit_failure(end, self.limits, text):
            raise failure
        if how := crash_of(end, text):
            raise await self._crash(how, text, scratch)
        if end.code == NO_ROOM_STATUS:
            raise missing_build(text)
        if end.code == 1:
            raise compile_error(text, unit.declaration)
        if end.code != 0:
            raise await self._crash(f"status {end.code}", text, scratch)
        try:
            executable = read_left(scratch / _EXECUTABLE_NAMES[unit.kind], _MAX_EXECUTABLE_BYTES)
            facts = BuildFacts(
                _symbols_of_source(scratch),
                needed_libraries(executable),
                code_objects(executable, has_image=self.device.describe().is_gpu and unit.kind is BuildKind.KERNELS),
            )
            return CachedBuild.of(executable, text, facts, _parts(scratch))
        except LeftFileError as error:
            raise await self._crash(str(error), text, scratch) from error

    async def _crash(self, how: str, text: str, scratch: Path) -> Failure:
        """Returns the failure for a crashed compiler: the source's fault if the same compiler builds a source of ours.

        Otherwise anybody who finds a source that crashes the compiler would have free runs, and get machines drained.
        """
        folder = scratch.with_name("probe")
        new_source_folder(folder, _PROBE)
        command = self.device.build_command(folder, BuildKind.PROGRAM)
        end = await run_to_end(self.sandbox, command, self.limits)
        if end.code == 0:
            return compiler_crash(how, text)
        return missing_build(f"{text}\nIt crashed ({how}), and fails on a source of ours too:\n{_text(end)}".strip())


def _symbols_of_source(scratch: Path) -> tuple[str, ...]:
    """Symbols of all object files made from the source alone, sorted; raises LeftFileError if there is none."""
    parts = sorted(scratch.glob(SOURCE_OBJECTS))
    if not parts:
        raise LeftFileError(f"{SOURCE_OBJECTS}: no object file of the source was left")
    return tuple(sorted({name for part in parts for name in object_symbols(read_left(part, _MAX_EXECUTABLE_BYTES))}))


async def _inspection(report: asyncio.Task[Inspection] | None) -> Inspection:
    return await report if report is not None else Inspection(IsaReport())


def _parts(scratch: Path) -> dict[str, bytes]:
    """Reads the files that a solution's build left beside its executable, on devices whose launches can be recorded."""
    names = (RECORDER, REPLAYER, NOT_RECORDABLE)
    return {name: read_left(scratch / name, _MAX_EXECUTABLE_BYTES) for name in names if os.path.lexists(scratch / name)}


def _text(end: Exit) -> str:
    parts = [without_placeless_warnings(part.decode(errors="replace")).strip() for part in (end.stderr, end.stdout)]
    text = "\n".join(part for part in parts if part)
    return f"{text}\n[the rest of the compiler's text was cut off]" if end.output_truncated else text


def install(executable: bytes, path: Path) -> None:
    """Write an executable that its sandbox can start but not change."""
    path.write_bytes(executable)
    path.chmod(0o555)
