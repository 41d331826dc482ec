"""Every name that our headers declare for the cpu device exists for gfx942 too."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from hipcpu import toolchain as cpu
from services.executor.devices.gfx942 import prepare, toolchain

_KERNELS = Path(__file__).parent / "kernels"
_PROGRAMS = Path(__file__).parents[4] / "hipcpu" / "kernels"
_OWN = sorted((cpu.PACKAGE / "include").rglob("*.h"))
_OVERLAID = {path.name for path in (toolchain.PACKAGE / "include" / "wavepool").rglob("*.h")}
_DECLARED_IN = re.compile(r"^solution\.hip:(\d+):\d+: error: ", re.MULTILINE)
_CALL = re.compile(r"\b([A-Za-z_]\w*) *\(")
_MACRO_PARTS = ("", "_sync", "_system", "_block")


def _names_in(headers: Iterable[Path]) -> set[str]:
    """Names followed by a parenthesis, and names that a macro makes of its argument."""
    text = "".join(path.read_text() for path in headers)
    arguments = set(re.findall(r"^WP_\w+\(([A-Za-z_]\w*)", text, re.MULTILINE))
    return set(_CALL.findall(text)) | {argument + part for argument in arguments for part in _MACRO_PARTS}


def _declared(folder: Path, names: list[str], command: list[str]) -> set[str]:
    """The names that a compiler finds as functions of the global namespace."""
    lines = [f"__device__ void check_{number}() {{ using ::{name}; }}" for number, name in enumerate(names)]
    (folder / "solution.hip").write_text("\n".join(lines))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "PCH" not in done.stderr
    missing = {int(line) - 1 for line in _DECLARED_IN.findall(done.stderr)}
    return {name for number, name in enumerate(names) if number not in missing}


def test_every_function_of_our_headers_is_declared(tmp_path: Path) -> None:
    shared = [path for path in _OWN if path.name not in _OVERLAID]
    # Inner parts of a header that gfx942 replaces do not matter, unless a shared header uses them.
    private = {name for name in _names_in(_OWN) if name.startswith(("wp_", "__wp_"))} - _names_in(shared)
    names = sorted(name for name in _names_in(_OWN) - private if not name.startswith("__builtin_"))
    options = ("-fsyntax-only", "-ferror-limit", "0", "solution.hip")
    prelude = ("-include", "wavepool/prelude.h")
    hip = cpu.compiler().hip(cpu.PACKAGE / "include", *prelude, *options, kernels=True)
    on_gpu = prepare.prepare()
    clang = toolchain.clang(on_gpu.include, "-include-pch", str(on_gpu.prelude), *options)

    declared = _declared(tmp_path, names, hip)

    assert {"__trap", "wp_named_lanes", "__shfl_xor_sync", "atomicMax_block", "hipMalloc", "__expf"} <= declared
    assert len(declared) > 400
    assert declared - _declared(tmp_path, names, clang) == set()


@pytest.mark.parametrize("program", sorted(path.stem for path in _PROGRAMS.glob("*.hip")))
def test_what_the_cpu_device_runs_has_a_report(report_on: Callable[[str], dict[str, Any]], program: str) -> None:
    found = report_on((_PROGRAMS / "check.h").read_text() + (_PROGRAMS / f"{program}.hip").read_text())

    assert "does not compile" not in found["note"]
    assert found["kernel_count"] > 0


def test_every_template_for_lanes_and_atomics_has_code(report_on: Callable[[str], dict[str, Any]]) -> None:
    source = (_KERNELS / "every_wave_name.hip").read_text()
    headers = [cpu.PACKAGE / "include" / "wavepool" / "threads" / name for name in ("cross_lane.h", "atomics.h")]
    # Names that a macro makes of others are written so in the source, too.
    public = {name for name in _templates(headers) if not name.startswith(("wp_", "WP_"))}
    assert {"__match_all_sync", "__uni_sync", "unsafeAtomicAdd", "atomicCAS"} <= public
    assert public - set(re.findall(r"\w+", source)) == set()

    found = report_on(source)

    assert "does not compile" not in found["note"]
    assert set(found["kernels"]) == {"waves", "atomics"}


def test_a_fault_in_a_header_is_reported_without_its_folder(report_on: Callable[[str], dict[str, Any]]) -> None:
    wide = "struct Wide { long values[2]; };\n__global__ void k(Wide* p) { __match_any_sync(~0ull, *p); }"

    note = report_on(f"#include <hip/hip_runtime.h>\n{wide}")["note"]

    assert "gfx942: wavepool/threads/wave_operations.h:" in note
    assert "at most 64 bits can be matched" in note
    assert "/wavepool/" not in note


def _templates(headers: Iterable[Path]) -> set[str]:
    text = "".join(path.read_text() for path in headers)
    arguments = set(re.findall(r"^WP_\w+\(((?:__|atomic)\w*),", text, re.MULTILINE))
    shuffles = {f"{name}_sync" for name in arguments if name.startswith("__shfl")}
    plain = re.findall(r"^template <[^>]*>\s+__device__ __forceinline__ [\w ]*?[ *](\w+)\(", text, re.MULTILINE)
    return arguments | shuffles | {name for name in plain if not name.endswith(("_system", "_block"))}
