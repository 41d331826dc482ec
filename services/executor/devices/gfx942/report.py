"""Make the report of one submission: `python sandboxed_report.py FOLDER`, in a sandbox.

Reads FOLDER/solution.hip and leaves FOLDER/report.json: `toolchain`, `note` (why the report is empty or what is
missing), and the result of `analysis.report_of`. The exit status is 0 whenever the file is there. Raises ToolchainError
for a fault of the toolchain.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from hipcpu import toolchain as cpu
from hipcpu.build_folder import ToolchainError
from hipcpu.front.front_end import BROKEN_PRELUDE, header_options
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.analysis import Texts, report_of

REPORT = "report.json"
_INLINE_ASSEMBLY = b" asm "
_OUR_ASSEMBLY = b'asm "; wavepool-call'
_MOST_ERROR_CHARACTERS = 2000


def main(arguments: list[str]) -> int:
    """Write the report; returns the exit status."""
    folder = Path(arguments[0])
    (folder / REPORT).write_text(json.dumps(report(folder)))
    return 0


def report(folder: Path) -> dict[str, Any]:
    """Return the report of `folder`/solution.hip."""
    prepared = toolchain.prepared()
    said: dict[str, Any] = {"toolchain": prepared.title, "note": "", "kernels": {}, "kernel_count": 0}
    compiling = _start_clang(folder, prepared)
    # A big library, loaded while clang runs.
    from services.executor.devices.gfx942.code_generator import assembly_from_ir  # noqa: PLC0415  see above

    ir_bytes, messages = compiling.communicate()
    if compiling.returncode != 0:
        return {**said, "note": f"The source does not compile for gfx942: {_first_error(messages, prepared)}"}
    ir = ir_bytes.decode(errors="replace")
    if "amdgpu_kernel" not in ir:
        return {**said, "note": "The source has no kernel that is launched or that is not a template."}
    if fault := _assembler_fault(ir_bytes, prepared):
        return {**said, "note": f"The source does not compile for gfx942: {fault}"}
    source = (folder / toolchain.SOURCE).read_text(errors="replace")
    found = report_of(Texts(assembly_from_ir(ir), source, toolchain.SOURCE, ir))
    return {**said, **found, "note": _note(found, library=prepared.library)}


def _start_clang(folder: Path, prepared: toolchain.Prepared) -> subprocess.Popen[bytes]:
    """Start clang, which writes optimised IR to stdout."""
    command = toolchain.clang(
        prepared.include, "-include-pch", str(prepared.prelude), *header_options(folder / toolchain.SOURCE)
    )
    command += ["-mlink-builtin-bitcode", str(prepared.mathematics), "-emit-llvm", toolchain.SOURCE, "-o", "-"]
    return subprocess.Popen(  # noqa: S603  our own compiler, sandboxed
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _assembler_fault(ir: bytes, prepared: toolchain.Prepared) -> str:
    """Return why the assembler rejects inline assembly, which no other step reads; empty if it does not."""
    if _INLINE_ASSEMBLY not in ir.replace(_OUR_ASSEMBLY, b""):
        return ""
    command = [*toolchain.clang_of_ir(), "-emit-obj", "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=ir, capture_output=True, check=False)  # noqa: S603  as above
    return _first_error(done.stderr, prepared) if done.returncode else ""


def _first_error(text: bytes, prepared: toolchain.Prepared) -> str:
    messages = cpu.compiler().without_folders(text.decode(errors="replace"), prepared.include)
    if BROKEN_PRELUDE.search(messages):
        raise ToolchainError("the precompiled headers for gfx942 cannot be used")
    lines = [line.strip() for line in messages.splitlines()]
    first = next((line for line in lines if "error:" in line), lines[0] if lines else "no reason given")
    return first[:_MOST_ERROR_CHARACTERS]


def _note(found: dict[str, Any], *, library: str) -> str:
    parts: list[str] = []
    functions = sorted({name for kernel in found["kernels"].values() for name in kernel["uncounted"]})
    if functions:
        parts.append(f"Calls of {', '.join(functions)} are counted without their own registers and instructions.")
        if not library:
            parts.append("AMD's device library has most of such functions; `wavepool doctor` says how to get it.")
    if found["kernel_count"] > len(found["kernels"]):
        parts.append(f"Only the first {len(found['kernels'])} of {found['kernel_count']} kernels are shown.")
    return " ".join(parts)
