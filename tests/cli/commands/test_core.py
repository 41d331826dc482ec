from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.invocation import wavepool

SOLUTION = Path(__file__).parents[3] / "problems" / "catalogue" / "relu" / "solution.hip"
COMMAND = [sys.executable, "-m", "wavepool_client.main", "core", "bench"]


@pytest.mark.parametrize(("replacement", "status", "verdict"), [("0.0f", 0, "ACCEPTED"), ("0.5f", 1, "WRONG_ANSWER")])
def test_the_core_judges_without_services_and_gets_further_options(
    tmp_path: Path, replacement: str, status: int, verdict: str
) -> None:
    kernel = tmp_path / "kernel.hip"
    kernel.write_text(SOLUTION.read_text().replace("0.0f", replacement))
    words = [*COMMAND, str(kernel), "--problem", "relu", "--mode", "check"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    assert verdict in done.stdout


def test_a_file_that_is_not_there_is_bad_usage() -> None:
    assert wavepool("core", "bench", "missing.hip", "--problem", "relu").status == 2


@pytest.mark.parametrize("options", [[], ["--problem", "relu"]])
def test_the_mi300x_report_needs_no_service_and_no_gpu(options: list[str]) -> None:
    words = [sys.executable, "-m", "wavepool_client.main", "core", "isa", str(SOLUTION), "--asm", *options]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "relu" in done.stdout
    assert "global_store" in done.stdout


def _core(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wavepool_client.main", "core", *words]
    return subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=120, check=False)


def test_the_mi300x_report_for_a_problem_refuses_what_a_run_would(tmp_path: Path) -> None:
    source = tmp_path / "kernel.hip"
    source.write_text(f"#include <rocblas/rocblas.h>\n{SOLUTION.read_text()}")
    refused = _core("isa", str(source), "--problem", "relu")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "line 1: `#include <rocblas/rocblas.h>`" in refused.stderr
    unknown = _core("isa", str(source), "--problem", "relo")
    assert (unknown.returncode, "did you mean relu" in unknown.stderr) == (2, True)


def test_a_whole_program_needs_no_problem_and_a_solution_is_asked_for_one(tmp_path: Path) -> None:
    source = tmp_path / "program.hip"
    source.write_text("int main() { return 0; }")
    whole = _core("bench", str(source), "--mode", "sandbox")
    assert whole.returncode == 0, whole.stderr
    nameless = _core("bench", str(SOLUTION), "--mode", "check")
    assert (nameless.returncode, "problem: is empty" in nameless.stderr) == (2, True)


# Across wavefronts: within one, missing barriers are no races on the MI300X.
FLAWED = """#include <hip/hip_runtime.h>
__global__ void reverse(const float* in, float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void one_too_many(float* out) { out[threadIdx.x + 1] = 0; }
int main() {
  float *in, *out;
  (void)hipMalloc(&in, 128 * sizeof(float));
  (void)hipMalloc(&out, 128 * sizeof(float));
  (void)hipMemset(in, 0, 128 * sizeof(float));
  reverse<<<1, 128>>>(in, out);
  one_too_many<<<1, 128>>>(out);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], {("race", "reverse"), ("out-of-bounds", "one_too_many")}), (["--racecheck"], {("race", "reverse")})],
)
def test_sanitizers_name_flaws_with_their_kernels_and_lines(
    tmp_path: Path, options: list[str], expected: set[tuple[str, str]]
) -> None:
    (tmp_path / "kernel.hip").write_text(FLAWED)
    done = _core("check", str(tmp_path / "kernel.hip"), "--json", *options)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["findings"]
    assert {(kind, kernel) for kind, kernel in expected} == {
        (one["kind"], next(name for _, name in expected if name in one["kernel"])) for one in found
    }
    assert {one["where"]["line"] for one in found} <= {4, 5, 7}


def test_sanitizers_show_people_the_line_and_find_nothing_in_an_honest_solution(tmp_path: Path) -> None:
    (tmp_path / "kernel.hip").write_text(FLAWED)
    flawed = _core("check", str(tmp_path / "kernel.hip"), "--memcheck")
    assert (flawed.returncode, flawed.stdout.splitlines()[-1]) == (1, "1 finding")
    assert "kernel one_too_many, block (0, 0, 0), thread (127, 0, 0)" in flawed.stdout
    assert "7 | __global__ void one_too_many" in flawed.stdout
    honest = _core("check", str(SOLUTION), "--problem", "relu")
    assert (honest.returncode, honest.stdout.splitlines()[-1]) == (0, "no findings")


def test_a_source_without_kernels_gets_status_1_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "host.hip").write_text('extern "C" void solution() {}')
    words = [sys.executable, "-m", "wavepool_client.main", "core", "isa", str(tmp_path / "host.hip"), "--json"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "no kernel" in json.loads(done.stdout)["note"]
