"""The device functions of HIP's own headers are all here, or it is said why one is not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.front import front_end
from tests.needs import ROCM

pytestmark = [pytest.mark.rocm, pytest.mark.timeout(300)]

HEADERS = (
    "hip/hip_runtime.h",
    "hip/hip_fp16.h",
    "hip/hip_bf16.h",
    "hip/hip_fp8.h",
    "hip/hip_complex.h",
    "hip/hip_cooperative_groups.h",
    "hip/math_functions.h",
)
# A name that a pattern matches whole is not here, for the reason beside it.
LEFT_OUT = {
    r"tex\w+|surf\w+|__ockl_image_\w+|__hipGetPixelAddr|__hipMap\w+": "textures are refused, with their line",
    r"__ockl_(?:fprintf|dm)_\w+|__ockl_gws_\w+": "HIP's runtime calls them; they need its buffers",
    r"__ockl_multi_grid_\w+": "grids over several devices; a submission has one",
    r"__cxa_\w+|__(?:div|mul)[ds]c3|__assertfail": "the C++ compiler calls them, not people",
    r"__make_mantissa\w*|_hip_compare|hip_cas_\w+": "parts of other functions, which are here",
    r"__hip_hc_(?:add|sub|mul)8pk": "HIP 6.4 computes with the last of their four bytes alone",
    r"__to_local|__(?:amdgcn_)?get_dynamicgroupbaseptr": "`extern __shared__` is that memory's name here",
    r"__isinf|__isnan": "the C library's own, for long double too",
}
# No name of a function: constructors, conversions and operators.
FUNCTION = re.compile(r"FunctionDecl 0x.* ([A-Za-z_]\w*) '")


def _lines(names: Sequence[str]) -> str:
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    return includes + "".join(f"namespace asked {{ using ::{name}; }}\n" for name in names)


def _unknown(names: Sequence[str], messages: str) -> set[str]:
    wrong = {int(line) for line in re.findall(r"solution\.hip:(\d+):\d+: error", messages)}
    return {name for line, name in enumerate(names, len(HEADERS) + 1) if line in wrong}


def _hipcc(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "solution.hip").write_text(source)
    command = [ROCM / "bin" / "hipcc", "-x", "hip", "--offload-arch=gfx942", "--cuda-device-only", "-fsyntax-only"]
    return subprocess.run(
        [*command, "-ferror-limit=0", *options, "solution.hip"],
        cwd=folder,
        env={**os.environ, "ROCM_PATH": str(ROCM), "HIP_PLATFORM": "amd"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _device_functions(folder: Path) -> list[str]:
    """The names that HIP's headers give to functions of the device in the global namespace."""
    tree = _hipcc(folder, _lines([]), "-Xclang", "-ast-dump", "-Xclang", "-skip-function-bodies").stdout
    names, last, depth = set[str](), "", 0
    for line in tree.splitlines():
        indent = re.match(r"[|` -]*", line)
        here = indent.end() if indent else 0
        if (found := FUNCTION.search(line)) and "CXX" not in line[here : here + 3]:
            last, depth = found[1], here
        elif line[here:].startswith("CUDADeviceAttr") and here == depth + 2:
            names.add(last)
    asked = sorted(names)
    return sorted(names - _unknown(asked, _hipcc(folder, _lines(asked)).stderr))


def _missing(folder: Path, names: Sequence[str]) -> set[str]:
    """The first of the names that our headers lack: the compiler ends after 20 errors."""
    (folder / "solution.hip").write_text(_lines(names))
    return _unknown(names, front_end.parse(folder, "solution.hip").messages)


def test_the_device_functions_of_hips_own_headers_are_here(tmp_path: Path) -> None:
    names = _device_functions(tmp_path)
    assert {"__shfl_xor", "__ocml_sin_f32", "__hbgtu2", "hipCfma"} <= set(names)
    assert len(names) > 1000

    left_out = {pattern: [name for name in names if re.fullmatch(pattern, name)] for pattern in LEFT_OUT}
    promised = [name for name in names if not any(name in group for group in left_out.values())]
    assert _missing(tmp_path, promised) == set()
    # A reason ends with the gap that it explains.
    examples = [group[0] for group in left_out.values()]
    assert _missing(tmp_path, examples) == set(examples)


def test_the_headers_that_hips_own_include_are_here_by_their_names() -> None:
    """People include them by name, such as `hip/amd_detail/amd_hip_fp8.h`."""
    ours, theirs = toolchain.PACKAGE / "include" / "hip" / "amd_detail", ROCM / "include" / "hip" / "amd_detail"
    # Textures, OpenGL, and the streams of each thread, which only change the meaning of names.
    left_out = {"amd_surface_functions.h", "amd_hip_gl_interop.h", "amd_hip_runtime_pt_api.h"}
    assert {path.name for path in theirs.glob("amd_*.h")} - {path.name for path in ours.iterdir()} == left_out
