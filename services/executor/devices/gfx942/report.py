"""Make the report of one submission: `python sandboxed_report.py FOLDER RELEASE`, in a sandbox.

Reads FOLDER/solution.hip and leaves FOLDER/report.json: `toolchain`, `note` (why the report is empty or what is
missing), `refused` (what AMD's compiler refuses in the source), and the result of `analysis.report_of`. RELEASE names
the release of HIP that counts; if it refuses the source, the others are asked too. The exit status is 0 whenever the
file is there. Raises ToolchainError for a fault of the toolchain.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hipcpu import toolchain as cpu
from hipcpu.build_folder import ToolchainError
from hipcpu.front.front_end import BROKEN_PRELUDE, header_options
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.analysis import Texts, report_of
from services.executor.devices.gfx942.refusals import Refusal, refusals, sentence_of
from services.executor.devices.gfx942.toolchain import Prepared

REPORT = "report.json"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*([^\n]*)", re.MULTILINE)
_RUNTIME = "<hip/hip_runtime.h>"


def main(arguments: list[str]) -> int:
    """Write the report; returns the exit status."""
    folder = Path(arguments[0])
    (folder / REPORT).write_text(json.dumps(report(folder, *arguments[1:])))
    return 0


def report(folder: Path, wanted: str = "") -> dict[str, Any]:
    """Return the report of `folder`/solution.hip by the release of HIP that `wanted` names."""
    prepared, *others = toolchain.releases(wanted)
    said: dict[str, Any] = {"toolchain": prepared.title, "note": "", "refused": "", "kernels": {}, "kernel_count": 0}
    compiling = _start_clang(folder, prepared, *prepared.libraries(), "-emit-llvm", "-o", "-")
    # A big library, loaded while clang runs.
    from services.executor.devices.gfx942.code_generator import assembly_from_ir  # noqa: PLC0415  see above

    ir_bytes, messages = compiling.communicate()
    if compiling.returncode != 0:
        return {**said, **_refused(_errors(messages, prepared), folder, prepared, others)}
    ir = ir_bytes.decode(errors="replace")
    if "amdgpu_kernel" not in ir:
        return {**said, "note": "The source has no kernel that is launched or that is not a template."}
    if faults := _assembler_faults(ir_bytes, prepared):
        return {**said, **_refused(faults, folder, prepared, ())}
    source = (folder / toolchain.SOURCE).read_text(errors="replace")
    found = report_of(Texts(assembly_from_ir(ir), source, toolchain.SOURCE, ir))
    return {**said, **found, "note": _note(found)}


def _refused(errors: Sequence[Refusal], folder: Path, prepared: Prepared, others: Sequence[Prepared]) -> dict[str, str]:
    """Return the fields that say why there are no figures."""
    # What follows such an error may come from it.
    if doubt := errors[0].doubt:
        note = f"There is no report for gfx942: {doubt}."
        return {"note": f"{note} Whether AMD's compiler takes the source is unknown."}
    asked = [(f"HIP {other.hip.version}", _refuses(folder, other)) for other in others]
    text = sentence_of(errors, f"HIP {prepared.hip.version}", asked)
    return {"note": text, "refused": text}


def _refuses(folder: Path, prepared: Prepared) -> bool:
    checking = _start_clang(folder, prepared, "-fsyntax-only")
    checking.communicate()
    return checking.returncode != 0


def _start_clang(folder: Path, prepared: Prepared, *options: str) -> subprocess.Popen[bytes]:
    implicit = header_options(folder / toolchain.SOURCE)
    text = (folder / toolchain.SOURCE).read_text(errors="replace")
    started = prepared.start(precompiled=bool(implicit) or begins_with_runtime(text))
    command = prepared.clang(*started, *implicit, *options, toolchain.SOURCE)
    return subprocess.Popen(  # noqa: S603  our own compiler, sandboxed
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def begins_with_runtime(source: str) -> bool:
    """Return True if nothing in the source can change how it reads `hip/hip_runtime.h`.

    Only then may that header be precompiled: a macro defined before it changes it, and hipcc refuses a source that uses
    HIP without it.
    """
    for name, rest in _DIRECTIVE.findall(_COMMENT.sub(" ", source)):
        if (name, rest.strip()) == ("include", _RUNTIME):
            return True
        if (name, rest.strip()) != ("pragma", "once") and not (name == "include" and rest.startswith("<")):
            return False
    return False


def _assembler_faults(ir: bytes, prepared: Prepared) -> list[Refusal]:
    """Return why the back end rejects what the front end took: inline assembly, too much shared memory."""
    command = [*toolchain.clang_of_ir(), "-emit-obj", "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=ir, capture_output=True, check=False)  # noqa: S603  as above
    return _errors(done.stderr, prepared) if done.returncode else []


def _errors(text: bytes, prepared: Prepared) -> list[Refusal]:
    messages = text.decode(errors="replace")
    if BROKEN_PRELUDE.search(messages):
        raise ToolchainError("the precompiled headers for gfx942 cannot be used")
    for folder in (*prepared.folders(), toolchain.CUDA_NAMES, cpu.compiler().folder):
        messages = messages.replace(f"{folder}/", "")
    last = messages.strip().splitlines()[-1:] or ["no reason given"]
    return refusals(messages, toolchain.SOURCE) or [Refusal(0, *last)]


def _note(found: dict[str, Any]) -> str:
    parts: list[str] = []
    functions = sorted({name for kernel in found["kernels"].values() for name in kernel["uncounted"]})
    if functions:
        parts.append(f"Calls of {', '.join(functions)} are counted without their own registers and instructions.")
    if found["kernel_count"] > len(found["kernels"]):
        parts.append(f"Only the first {len(found['kernels'])} of {found['kernel_count']} kernels are shown.")
    return " ".join(parts)
