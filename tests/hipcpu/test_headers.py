"""Submissions may include any headers of the C and C++ libraries, in any order."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.front import front_end

_INCLUDE = toolchain.PACKAGE / "include"
# These only warn that another name is the right one.
_WARN = {"sys/errno.h", "sys/fcntl.h", "sys/poll.h", "sys/signal.h", "sys/termios.h", "wait.h"}


def _headers() -> list[str]:
    folder = Path(toolchain.compiler().folder) / "lib/libc/include/generic-musl"
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*.h"))
    return sorted(name for name in names if not name.startswith("bits/") and name not in _WARN)


def _messages(folder: Path, headers: Sequence[str]) -> str:
    lines = ["#include <hip/hip_runtime.h>", *(f"#include <{name}>" for name in headers), "#include <assert.h>"]
    use = "__global__ void check(int n) { assert(n > 0); }\n"
    (folder / "solution.hip").write_text("\n".join([*lines, use]))
    return front_end.parse(folder, "solution.hip").messages


@pytest.mark.parametrize("seed", range(2))
def test_all_headers_of_the_c_library_go_together_in_any_order(tmp_path: Path, seed: int) -> None:
    headers = _headers()
    assert {"assert.h", "fcntl.h", "malloc.h", "sys/un.h", "unistd.h"} <= set(headers)
    random.Random(seed).shuffle(headers)  # noqa: S311 - an order, not a secret
    assert _messages(tmp_path, headers) == ""


@pytest.mark.parametrize("name", ["assert.h", "unistd.h"])
def test_a_header_goes_alone(tmp_path: Path, name: str) -> None:
    assert _messages(tmp_path, [name]) == ""


def _cpp_headers() -> list[str]:
    folder = toolchain.compiler().folder / "lib/libcxx/include"
    names = (path.name for path in folder.iterdir() if path.is_file())
    return sorted(name for name in names if re.fullmatch(r"[a-z]\w*", name))


@pytest.mark.parametrize("seed", range(2))
def test_all_headers_of_cpp_go_together_in_any_order(tmp_path: Path, seed: int) -> None:
    # As under hipcc, those of the processor see its macros and the MI300X's.
    headers = [*_cpp_headers(), "cpuid.h", "immintrin.h"]
    assert {"algorithm", "coroutine", "mdspan", "print", "vector"} <= set(headers)
    random.Random(seed).shuffle(headers)  # noqa: S311 - an order, not a secret
    assert _messages(tmp_path, headers) == ""


_OURS = sorted(path.relative_to(_INCLUDE).as_posix() for path in _INCLUDE.rglob("*") if path.is_file())
_PUBLIC = [name for name in _OURS if "wavepool" not in name and name != "bits/stdc++.h"]


@pytest.mark.parametrize("seed", range(2))
def test_all_headers_of_hip_and_cuda_go_together_in_any_order(tmp_path: Path, seed: int) -> None:
    assert {"cuda_fp4.h", "cuda/std/limits", "cuda/pipeline", "mma.h", "hip/hip_fp8.h"} <= set(_PUBLIC)
    headers = [*_PUBLIC]
    random.Random(seed).shuffle(headers)  # noqa: S311 - an order, not a secret
    assert _messages(tmp_path, headers) == ""
