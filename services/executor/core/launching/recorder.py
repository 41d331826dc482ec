"""Runs the recorder of a build without a device: it notes all requests of `solution` to one, for each case."""

from __future__ import annotations

import asyncio
import math
import struct
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hipcpu.build_folder import NOT_RECORDABLE, RECORDER, REPLAYER
from services.executor.core.compile.build import install
from services.executor.core.compile.object_symbols import object_symbols
from services.executor.core.launching.recording import (
    MOST_BYTES,
    NotRecordableError,
    RecordingError,
    recording_from_bytes,
)
from services.executor.core.launching.symbol_names import named_as_in
from services.executor.core.launching.understanding import RECORDINGS, DifferingError, understood
from services.executor.core.sandbox.exit_reasons import strain
from services.executor.core.sandbox.running import run_to_end
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import Command, Mount
from services.executor.sandboxes.sandbox_files import LeftFileError, read_left

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from problems.kit.definition import Case, Problem
    from services.executor.core.compile.cache import CachedBuild
    from services.executor.core.launching.program import LaunchProgram
    from services.executor.core.launching.recording import Recording
    from services.executor.core.sandbox.run_place import PlaceContext
    from services.executor.sandboxes.sandbox import Limits

_MAGIC = 0x3152504B50505721
_WORD_BYTES = 8
_HEAD_BYTES = 2 * _WORD_BYTES
_SCALAR, _DEVICE_ARRAY, _HOST_READABLE_ARRAY = 0, 1, 2
_BUILD, _REQUEST, _LEFT = Path("/build"), Path("/request/request"), Path("/recordings")
CALL_SECONDS = 10
"""Time limit of all calls of a case; no kernel runs in them."""
_MOST_OPERATIONS = 20_000
_COOPERATIVE_BLOCKS_OF_UNIT = 32
"""More blocks than any compute unit runs at once; the launch itself says if there are too many."""
_COOPERATIVE_BLOCKS_OF_PROCESSOR = 40
"""The limit in `hipcpu/runtime/kernels/cooperative.h`."""
_TRIES = 3
"""The number of tries to record: host threads that launch at the same time may do so in another order."""


async def programs_of(
    build: CachedBuild,
    folder: Path,
    problem: Problem,
    cases: Sequence[Case],
    context: PlaceContext,
    call_seconds: int = CALL_SECONDS,
) -> list[LaunchProgram | NotRecordableError]:
    """For each case, returns the launch program of a finished build, or the reason why there is none.

    Makes `folder` and puts the recorder there. All calls of a case together have `call_seconds`, all cases together
    twice as much. Raises InfrastructureFailure if the recorder's sandbox cannot be made.
    """
    if reason := not_recordable_because(build):
        return [NotRecordableError(reason)] * len(cases)
    _put(build.parts[RECORDER], folder)
    found = await _Recorder(context, folder, call_seconds).programs(problem, cases)
    # Skips the replayer's own ELF header, to find the code object in it. On `cpu` there is none, and kernels keep their
    # recorded names.
    symbols = object_symbols(build.parts[REPLAYER][1:])
    return [_named(symbols, one) for one in found] if symbols else found


def _named(symbols: Sequence[str], program: LaunchProgram | NotRecordableError) -> LaunchProgram | NotRecordableError:
    try:
        return program if isinstance(program, NotRecordableError) else named_as_in(symbols, program)
    except NotRecordableError as error:
        return error


def _put(recorder: bytes, folder: Path) -> None:
    folder.mkdir(mode=0o755)
    install(recorder, folder / RECORDER)


def not_recordable_because(build: CachedBuild) -> str:
    """Says why a build has no recorder; empty if it has one."""
    if RECORDER in build.parts:
        return ""
    said = build.parts.get(NOT_RECORDABLE, b"").decode(errors="replace")
    return said or "this device cannot record what host code asks for yet"


@dataclass(frozen=True)
class _Recorder:
    """Runs recordings in sandboxes without a device, given the device's facts; `folder` has the executable."""

    context: PlaceContext
    folder: Path
    call_seconds: int

    async def programs(self, problem: Problem, cases: Sequence[Case]) -> list[LaunchProgram | NotRecordableError]:
        draws = [_Draw(problem, cases, number) for number in range(RECORDINGS)]
        if name := _changing(draws):
            return [NotRecordableError(f"each call is given an array `{name}` of another size or content")] * len(cases)
        found: list[LaunchProgram | NotRecordableError] = [DifferingError("was not recorded")] * len(cases)
        for _ in range(_TRIES):
            streams = await asyncio.gather(*(self._run(draw, number) for number, draw in enumerate(draws)))
            again = [
                _understood(of_case, [draw.scalars(at) for draw in draws])
                for at, of_case in enumerate(zip(*streams, strict=True))
            ]
            found = [new if isinstance(one, DifferingError) else one for one, new in zip(found, again, strict=True)]
            if not any(isinstance(one, DifferingError) for one in found):
                break
        return found

    async def _run(self, draw: _Draw, number: int) -> list[bytes | NotRecordableError]:
        cases = len(draw.cases)
        with ScratchFolder(self.context.scratch_parent) as scratch:
            (scratch / "request").mkdir(mode=0o755)
            (scratch / "request" / _REQUEST.name).write_bytes(draw.request(self.call_seconds))
            left = scratch / "left"
            left.mkdir(mode=0o755)
            limits = self._limits()
            end = await run_to_end(self.context.sandbox, self._command(scratch, number), limits)
            said = end.stderr.decode(errors="replace").strip().removeprefix("wavepool recorder: ")[:400]
            said = said or "the process that records `solution` left nothing"
            why = strain(end, self.context.limits.runner).rstrip(".")
            ended = NotRecordableError(f"{said}.{why}" if why else said)
            return [_left_by(left / str(case), ended) for case in range(cases)]

    def _command(self, scratch: Path, number: int) -> Command:
        device = self.context.device.describe()
        is_gpu = device.has_own_memory
        settings = (
            number + 1,
            # The last recording allocates in the opposite order.
            int(number == RECORDINGS - 1),
            device.memory_mib << 20,
            _MOST_OPERATIONS,
            device.wavefront_size,
            device.max_threads_per_block,
            device.max_lds_bytes,
            device.compute_units,
            _COOPERATIVE_BLOCKS_OF_UNIT * device.compute_units if is_gpu else _COOPERATIVE_BLOCKS_OF_PROCESSOR,
        )
        # The format is that of runtime/recorder/properties.cpp. Without them the recorder answers as the `cpu` device
        # does.
        properties = "".join(f";{name}={value.hex()}" for name, value in self.context.properties.items())
        reported = {"WAVEPOOL_PROPERTIES": properties} if is_gpu else {}
        return Command(
            [str(_BUILD / RECORDER), str(_REQUEST), str(_LEFT)],
            _BUILD,
            [
                Mount(self.folder, _BUILD),
                Mount(scratch / "request", _REQUEST.parent),
                Mount(scratch / "left", _LEFT, writable=True),
            ],
            {"WAVEPOOL_RECORDING": " ".join(map(str, settings)), **reported},
        )

    def _limits(self) -> Limits:
        # A case takes milliseconds. If one never ends, neither do the others, so there is no need to wait for each.
        wall = timedelta(seconds=2 * self.call_seconds)
        limits = self.context.limits.runner
        # If sandboxes share a user, the processes of all recordings count together.
        shared = RECORDINGS if Gap.PROCESS_COUNT in self.context.sandbox.gaps else 1
        return replace(limits, wall=wall, file_mib=MOST_BYTES >> 20, processes=shared * limits.processes)


class _Draw:
    """The arguments for the calls of one recording: the sizes of device arrays, and all values that the host can read.

    Scalars and arrays that the host can read are drawn again for each recording, as they are for each call.
    """

    def __init__(self, problem: Problem, cases: Sequence[Case], seed: int) -> None:
        self.cases = [_arguments(problem, case, seed) for case in cases]
        self._scalars = [at for at, parameter in enumerate(problem.parameters) if not parameter.pointer]
        self._sizes = {at: problem.parameters[at].dtype.itemsize for at in self._scalars}

    def request(self, call_seconds: int) -> bytes:
        """The request that the recorder reads (`runtime/recorder/main.cpp`)."""
        parts = [_words(_MAGIC, call_seconds, len(self.cases))]
        for arguments in self.cases:
            parts += [_words(len(arguments)), *arguments.values()]
        return b"".join(parts)

    def scalars(self, case: int) -> dict[int, bytes]:
        """The scalars' values, by argument number."""
        arguments = list(self.cases[case].values())
        return {at: arguments[at][_HEAD_BYTES : _HEAD_BYTES + self._sizes[at]] for at in self._scalars}

    def reported(self) -> list[dict[str, bytes]]:
        """All arguments but the scalars."""
        return [
            {name: value for at, (name, value) in enumerate(arguments.items()) if at not in self._sizes}
            for arguments in self.cases
        ]


def _changing(draws: Sequence[_Draw]) -> str:
    """The first array whose size or host-readable content differs between the draws; empty if there is none."""
    first, *others = (draw.reported() for draw in draws)
    for other in others:
        for one, another in zip(first, other, strict=True):
            if name := next((name for name, value in one.items() if another[name] != value), ""):
                return name
    return ""


def _arguments(problem: Problem, case: Case, seed: int) -> dict[str, bytes]:
    # At GPU sizes it takes minutes to draw the values.
    inputs = problem.sized_inputs(case, np.random.PCG64(seed))
    return _reported(problem, case, problem.inputs(case, np.random.default_rng(seed)) if inputs is None else inputs)


def _reported(problem: Problem, case: Case, inputs: Mapping[str, Any]) -> dict[str, bytes]:
    shapes = problem.shapes(case, inputs)
    found: dict[str, bytes] = {}
    for parameter in problem.parameters:
        shape = shapes[parameter.name]
        size = math.prod(shape) * parameter.dtype.itemsize
        if parameter.pointer and not parameter.valid_on_host:
            found[parameter.name] = _words(_DEVICE_ARRAY, size)
            continue
        data = np.asarray(inputs[parameter.name]).astype(parameter.dtype, copy=False).tobytes()
        kind = _HOST_READABLE_ARRAY if parameter.pointer else _SCALAR
        found[parameter.name] = _words(kind, size) + data + bytes(-len(data) % _WORD_BYTES)
    return found


def _words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def _left_by(file: Path, otherwise: NotRecordableError) -> bytes | NotRecordableError:
    try:
        return read_left(file, MOST_BYTES)
    except LeftFileError:
        return otherwise


def _understood(
    streams: Sequence[bytes | NotRecordableError], scalars: Sequence[Mapping[int, bytes]]
) -> LaunchProgram | NotRecordableError:
    try:
        recordings: list[Recording] = []
        for stream in streams:
            if isinstance(stream, NotRecordableError):
                return stream
            recordings.append(recording_from_bytes(stream))
        return understood(recordings, scalars)
    except NotRecordableError as error:
        return error
    except RecordingError as error:
        return NotRecordableError(f"what was recorded cannot be used: {error}")
