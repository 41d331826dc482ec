"""Random kernels compute the same in every form of kernels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipcpu.build import build
from hipcpu.build_folder import BuildKind
from hipcpu.forms import kernel_forms, thread_loops
from tests.hipcpu.random_kernels import random_program

_KERNELS = 12


def _said(folder: Path, source: str) -> list[str]:
    folder.mkdir()
    (folder / "solution.hip").write_text(source)
    build(folder, BuildKind.PROGRAM)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=100, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.splitlines()


@pytest.mark.parametrize("seed", [1, 2])
def test_loops_over_threads_compute_what_threads_do(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random_program(seed, _KERNELS)
    cut = _said(tmp_path / "cut", source)

    with monkeypatch.context() as many:
        many.setattr(thread_loops, "_MOST_LOOPS_IN_A_FUNCTION", 0)
        functions = _said(tmp_path / "functions", source)

    monkeypatch.setattr(kernel_forms, "can_be_cut", lambda *_: False)
    threads = _said(tmp_path / "threads", source)

    assert cut == functions == threads
    assert len(set(cut)) >= 3 * _KERNELS
    assert all("status 0" in line for line in cut)
