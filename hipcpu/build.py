"""Compile one submission: `python -m hipcpu.build FOLDER solution|kernels|program [sanitize]`.

`FOLDER recorder` is for devices whose own compiler makes the kernels: it leaves FOLDER/recorder or
FOLDER/not_recordable.txt, and its status is 0.

Exit status 0 means that FOLDER/runner (or FOLDER/program) is there; for a solution also FOLDER/recorder and
FOLDER/replayer, or FOLDER/not_recordable.txt with the reason why not. Status 1 means a fault of the source, with the
compiler's messages on stderr and in FOLDER/diagnostics.json; 2 a fault of the toolchain; 75 that the machine has no
room for another process; and 128 + n that signal n ended clang.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hipcpu import toolchain
from hipcpu.build_folder import NO_ROOM_STATUS, NOT_RECORDABLE, RECORDER, SANITIZE, BuildKind, ToolchainError
from hipcpu.front import front_end
from hipcpu.front.diagnostics import SOURCE, Diagnostic, assembly_error, diagnostics_from_text, hints, intrinsic_error
from hipcpu.front.front_end import Parsed
from hipcpu.join import (
    KERNEL_TABLE,
    ForeignAssemblyError,
    ForeignCallError,
    Joined,
    RefusedAssemblyError,
    UnknownIntrinsicError,
    join,
    join_kernels,
)
from hipcpu.linking import LinkError, SymbolError, link, link_recorder
from hipcpu.modules.contract import contract_violation, line_of
from hipcpu.modules.harness import HARNESS_OBJECT, compile_harness, kernel_violation
from hipcpu.modules.host_module import HostModule, host_module_from_text
from hipcpu.modules.thunks import LaunchLimits
from hipcpu.recorder_module import recorder_objects

_OK, _SOURCE_AT_FAULT, _TOOLCHAIN_AT_FAULT = 0, 1, 2
_SIGNAL_STATUS_BASE = 128
_WITHOUT_RECORDER = "its host code cannot be built for the recorder: {}"


class SourceError(Exception):
    """The submission cannot be compiled; the text is for its author."""


def build(folder: Path, kind: BuildKind, link_options: Sequence[str] = (), *, sanitize: bool = False) -> str:
    """Build the submission in `folder` and return the compiler's warnings; raises SourceError with its errors.

    `link_options` are for all executables that contain our runner.
    """
    parsed = front_end.parse(folder, SOURCE, lines=sanitize)
    if parsed.host is None or parsed.kernels is None:
        raise SourceError(_with_hints(parsed))
    if parsed.foreign_files:
        raise SourceError(_foreign_file(parsed.foreign_files[0]))
    host = host_module_from_text(parsed.host)
    violation = kernel_violation(host, folder) if kind is BuildKind.KERNELS else contract_violation(host, kind)
    if violation:
        line = line_of(violation, (folder / SOURCE).read_text(errors="replace"))
        place = f"{SOURCE}:{line}:1" if line else SOURCE
        raise SourceError(f"{parsed.messages}{place}: error: {violation}\n")
    joined: Joined | None = None
    if kind is BuildKind.KERNELS:
        contents = join_kernels(host, parsed.kernels)
    else:
        joined = join(host, parsed.kernels, sanitize=sanitize, own_main=kind is BuildKind.PROGRAM)
        contents = [joined.host, joined.device]
    objects = _write_objects(folder, contents)
    if kind is BuildKind.SOLUTION:
        objects.append(compile_harness(folder))
    runner = [] if sanitize else sorted((toolchain.prepared().device / "runner").glob("*.o"))
    target = folder / kind.executable
    link([*objects, *(runner if kind is not BuildKind.PROGRAM else [])], target, link_options)
    if joined is not None and kind is BuildKind.SOLUTION and not sanitize:
        try:
            _split(folder, host, joined, link_options)
        except (SymbolError, LinkError, ValueError, RuntimeError) as error:
            # The solution itself is built: it can be checked, and only its time stays unproven.
            (folder / NOT_RECORDABLE).write_text(_WITHOUT_RECORDER.format(error))
    return parsed.messages


def build_recorder(folder: Path) -> None:
    """Build the recorder from the host side alone, or write down why it cannot be built."""
    try:
        fault = _recorder_fault(folder)
    except (front_end.CompilerCrashError, SymbolError, ToolchainError, LinkError, ValueError, RuntimeError) as error:
        fault = str(error)
    if fault:
        (folder / NOT_RECORDABLE).write_text(_WITHOUT_RECORDER.format(fault))


def _recorder_fault(folder: Path) -> str:
    """Build the recorder; returns why the source cannot have one, or an empty string."""
    text, messages = front_end.parse_host(folder, SOURCE)
    if text is None:
        return next((line for line in messages.splitlines() if ": error: " in line), messages)
    host = host_module_from_text(text)
    if not host.kernels:
        return "the source has no kernels"
    compile_harness(folder)
    # The other compiler knows how much static shared memory a kernel has, and its bounds.
    unknown = {one.symbol: LaunchLimits() for one in host.kernels}
    _link_recorder(folder, recorder_objects(host, unknown))
    return ""


def _link_recorder(folder: Path, contents: Sequence[bytes]) -> None:
    objects = [folder / f"recorder{number}.o" for number in range(len(contents))]
    for path, content in zip(objects, contents, strict=True):
        path.write_bytes(content)
    link_recorder([*objects, folder / HARNESS_OBJECT], folder / RECORDER)


def _split(folder: Path, host: HostModule, joined: Joined, link_options: Sequence[str]) -> None:
    """Put the recorder of the host side and the replayer of the device side beside the runner."""
    if reason := joined.device_fault or ("" if host.kernels else "the source has no kernels"):
        (folder / NOT_RECORDABLE).write_text(reason)
        return
    _link_recorder(folder, recorder_objects(host, joined.limits))
    (folder / "device.o").write_bytes(joined.device)
    runner = sorted((toolchain.prepared().device / "runner").glob("*.o"))
    link([folder / "device.o", *runner], folder / "replayer", [f"--defsym={KERNEL_TABLE}={host.table}", *link_options])


def _foreign_file(name: str) -> str:
    return f"{SOURCE}:1:1: error: `{name}` is included or embedded: only headers of HIP, C and C++ are there\n"


def _write_objects(folder: Path, contents: list[bytes]) -> list[Path]:
    paths = [folder / f"solution{number}.o" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def _with_hints(parsed: Parsed) -> str:
    notes = "".join(f"note: {hint}\n" for hint in hints(parsed.messages, toolchain.prepared().why_no_rocm))
    return parsed.messages + notes


def _report(folder: Path, text: str) -> None:
    diagnostics = diagnostics_from_text(text)
    if text and not diagnostics:
        diagnostics = [Diagnostic(0, 0, "error", text.strip())]
    (folder / "diagnostics.json").write_text(json.dumps([asdict(diagnostic) for diagnostic in diagnostics]))
    sys.stderr.write(text)


def main(arguments: list[str], link_options: Sequence[str] = ()) -> int:
    """Build and report; see the module's docstring."""
    if arguments[1] == RECORDER:
        build_recorder(Path(arguments[0]))
        return _OK
    folder, kind, sanitize = Path(arguments[0]), BuildKind(arguments[1]), SANITIZE in arguments[2:]
    try:
        return _status(folder, kind, link_options, sanitize=sanitize)
    except front_end.CompilerCrashError as crash:
        _report(folder, str(crash))
        return _SIGNAL_STATUS_BASE + crash.number


def _join_error(source: str, error: Exception) -> str:
    if isinstance(error, ForeignAssemblyError):
        return assembly_error(source, str(error))
    if isinstance(error, UnknownIntrinsicError):
        return intrinsic_error(source, str(error))
    return f"{SOURCE}:{error.line if isinstance(error, RefusedAssemblyError) else 1}:1: error: {error}\n"


def _status(folder: Path, kind: BuildKind, link_options: Sequence[str], *, sanitize: bool) -> int:
    try:
        _report(folder, build(folder, kind, link_options, sanitize=sanitize))
    except SourceError as error:
        _report(folder, str(error))
        return _SOURCE_AT_FAULT
    except (ForeignAssemblyError, RefusedAssemblyError, UnknownIntrinsicError, ForeignCallError) as error:
        _report(folder, _join_error((folder / SOURCE).read_text(errors="replace"), error))
        return _SOURCE_AT_FAULT
    except SymbolError as error:
        _report(folder, "".join(f"{SOURCE}: error: {fault}\n" for fault in error.args))
        return _SOURCE_AT_FAULT
    except (ToolchainError, LinkError, ValueError, RuntimeError, OSError) as error:
        sys.stderr.write(f"toolchain failure: {error}\n")
        # EAGAIN: our user has as many processes as it may, in other sandboxes. A source starts none here.
        return NO_ROOM_STATUS if isinstance(error, BlockingIOError) else _TOOLCHAIN_AT_FAULT
    return _OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
