"""The script, with small programs of the test's as compilers."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.devices.offload.build_script import Driver, build_script

# Copies its input to its output; `source_at_fault`, `crash` or `unlinkable` in the input make it fail.
COMPILER = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -o) output=$2; shift ;; *.hip|*.cpp|*.s|*.o) inputs="$inputs $1" ;; esac
    shift
done
if grep -qs source_at_fault $inputs; then echo "solution.hip:3:1: error: no" >&2; exit 1; fi
if grep -qs crash $inputs; then exit 139; fi
case $output in
    runner|program) if grep -qs unlinkable $inputs; then echo "undefined symbol: solution" >&2; exit 1; fi ;;
esac
cat $inputs >"$output"
"""
HARNESS = "harness\n"


class Bench:
    """A folder with a compiler."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "build"
        self.work.mkdir()
        self.runner = folder / "runner.o"
        self.runner.write_text("runner\n")
        compiler = folder / "compiler"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        self.driver = Driver(*[(str(compiler),)] * 6)
        self.record = "cp host/solution.hip host/recorder"

    def build(self, kind: BuildKind, source: str, harness: str = HARNESS) -> subprocess.CompletedProcess[str]:
        (self.work / "solution.hip").write_text(source)
        (self.work / "harness.cpp").write_text(harness)
        (self.work / "kernels.json").write_text('{"fill": 2, "scale_rows": 3}')
        script = build_script(kind, self.driver, [self.runner], self.record).replace("cd /build", f"cd '{self.work}'")
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_solution_is_linked_with_our_harness_and_runner(bench: Bench) -> None:
    done = bench.build(BuildKind.SOLUTION, "theirs\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert (bench.work / "runner").read_text() == f"theirs\n{HARNESS}runner\n"


@pytest.mark.parametrize(
    ("harness", "works", "by"),
    [
        ("#include <stddef.h>\n", True, "plain"),
        ("#include <stddef.h>\n", False, "hip"),
        ("#include <hip/hip_fp16.h>\n", True, "hip"),
    ],
)
def test_a_harness_without_hips_headers_is_compiled_without_them(
    bench: Bench, tmp_path: Path, harness: str, works: bool, by: str
) -> None:
    plain = tmp_path / "plain"
    plain.write_text(f"#!/bin/sh\n{'echo plain >harness.o' if works else 'exit 1'}\n")
    plain.chmod(0o755)
    bench.driver = replace(bench.driver, plain=(str(plain),))
    assert bench.build(BuildKind.SOLUTION, "theirs\n", harness).returncode == 0
    assert (bench.work / "harness.o").read_text() == (harness if by == "hip" else "plain\n")


@pytest.mark.gcc
@pytest.mark.parametrize(
    "main", ["", "int main() { return 77; }\n", "__attribute__((weak)) int main() { return 77; }\n"]
)
def test_a_main_beside_the_solution_is_never_run(bench: Bench, main: str) -> None:
    (bench.work / "ours.cpp").write_text("int solution();\nint main() { return solution(); }\n")
    compiler = ("c++", "-x", "c++")
    subprocess.run([*compiler, "-c", "ours.cpp", "-o", bench.runner], cwd=bench.work, check=True)
    bench.driver = Driver(compiler, ("c++",), compiler, ("as",), ("objcopy", "--localize-symbol=main"), compiler)
    done = bench.build(BuildKind.SOLUTION, f"int solution() {{ return 5; }}\n{main}", "\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([bench.work / "runner"], check=False).returncode == 5


def test_a_solution_leaves_its_two_halves(bench: Bench) -> None:
    assert bench.build(BuildKind.SOLUTION, "theirs\n").returncode == 0
    assert (bench.work / "recorder").read_text() == "theirs\n"
    assert '.incbin "solution.image.o"' in (bench.work / "replayer").read_text()
    assert "harness" not in (bench.work / "replayer").read_text()
    assert not (bench.work / "not_recordable.txt").exists()


@pytest.mark.parametrize(
    ("record", "kernels", "reason"),
    [
        ("echo 'line 3: no' >host/not_recordable.txt", "true", "line 3: no"),
        ("{ echo 'no such program'; false; }", "true", "the compiler for the recorder failed: no such program"),
        (
            "cp host/solution.hip host/recorder",
            "echo 'a.hip:1: error: no'; false",
            "compiled alone: a.hip:1: error: no",
        ),
    ],
)
def test_a_half_that_cannot_be_made_leaves_the_reason_and_does_no_harm(
    bench: Bench, tmp_path: Path, record: str, kernels: str, reason: str
) -> None:
    bench.record = record
    alone = tmp_path / "kernels"
    alone.write_text(f'#!/bin/sh\n{kernels} && exec {bench.driver.kernels[0]} "$@"\n')
    alone.chmod(0o755)
    bench.driver = replace(bench.driver, kernels=(str(alone),))
    done = bench.build(BuildKind.SOLUTION, "theirs\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert reason in (bench.work / "not_recordable.txt").read_text()
    assert not (bench.work / "recorder").exists()
    assert not (bench.work / "replayer").exists()


def test_kernels_that_call_the_host_are_checked_and_not_launched_by_us(bench: Bench) -> None:
    done = bench.build(BuildKind.SOLUTION, "hidden_hostcall_buffer\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "a kernel calls the host" in (bench.work / "not_recordable.txt").read_text()
    assert not (bench.work / "replayer").exists()
    planned = bench.build(BuildKind.KERNELS, "fill scale_rows hidden_hostcall_buffer\n")
    assert planned.returncode == 1
    assert "a kernel calls the host" in planned.stderr


def test_a_program_stands_alone(bench: Bench) -> None:
    assert bench.build(BuildKind.PROGRAM, "theirs\n").returncode == 0
    assert (bench.work / "program").read_text() == "theirs\n"


def test_kernels_become_an_image_that_our_runner_finds(bench: Bench) -> None:
    done = bench.build(BuildKind.KERNELS, "fill scale_rows\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert '.incbin "solution.image.o"' in (bench.work / "runner").read_text()
    assert (bench.work / "runner").read_text().endswith("runner\n")
    assert "harness" not in (bench.work / "runner").read_text()


def test_a_plan_that_names_a_kernel_which_is_not_there_is_the_sources_fault(bench: Bench) -> None:
    done = bench.build(BuildKind.KERNELS, "fill\n")
    assert done.returncode == 1
    assert "names the kernel scale_rows" in done.stderr


@pytest.mark.parametrize("kind", list(BuildKind))
def test_an_error_of_the_source_is_reported_with_the_compilers_text(bench: Bench, kind: BuildKind) -> None:
    done = bench.build(kind, "source_at_fault fill scale_rows\n")
    assert done.returncode == 1
    assert "solution.hip:3:1: error: no" in done.stderr


@pytest.mark.parametrize("kind", list(BuildKind))
def test_a_build_ends_as_a_compiler_that_crashes(bench: Bench, kind: BuildKind) -> None:
    assert bench.build(kind, "crash fill scale_rows\n").returncode == 139


@pytest.mark.parametrize("kind", list(BuildKind))
def test_a_compiler_that_is_missing_is_the_toolchains_fault(bench: Bench, kind: BuildKind) -> None:
    bench.driver = Driver(*[("/nowhere/compiler",)] * 6)
    assert bench.build(kind, "fill scale_rows\n").returncode == 2


def test_a_harness_that_does_not_compile_is_our_fault(bench: Bench) -> None:
    done = bench.build(BuildKind.SOLUTION, "theirs\n", f"{HARNESS}source_at_fault\n")
    assert done.returncode == 2
    assert "error: no" in done.stderr


def test_a_source_that_does_not_link_is_reported_with_the_linkers_text(bench: Bench) -> None:
    done = bench.build(BuildKind.SOLUTION, "unlinkable\n")
    assert done.returncode == 1
    assert "undefined symbol: solution" in done.stderr
