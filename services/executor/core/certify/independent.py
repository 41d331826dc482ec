"""Compares our times with those of a program without our code (`independent.hip`), which is built on the spot.

Both time the kernel of the same reference at the same size. On GPUs the compiler of the machine builds the program, and
it runs outside of any sandbox. On `cpu`, whose runtime is ours, it is a whole program of the sandbox mode: only the
clock is independent there, and there are no graphs.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.core.certify import judgements
from services.executor.core.certify.known_times import NoTimeError, with_case
from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.model.job import CoreJob
from services.executor.core.run.installation import catalogue, find_problem
from services.executor.core.run.one_run import run
from services.executor.devices.nvidia.toolchain import cuda
from services.executor.devices.rocm.toolchain import rocm
from submissions.modes import Mode, TimingMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from problems.kit.definition import Case, Problem
    from services.executor.core.run.context import RunContext
    from services.executor.devices.device import DeviceDescription

_PROGRAM = Path(__file__).with_name("independent.hip")
_INCLUDE = "#include <hip/hip_runtime.h>"
_LAUNCH = re.compile(r"<<<(.*?)>>>")
_SWEEP_BYTES = {True: 1 << 30, False: 128 << 20}
"""Bytes to sweep on a GPU and on a processor: more than either can cache, and four times the MI300X's Infinity
Cache."""
_SAMPLES = {True: 101, False: 31}
_BUILD_SECONDS, _RUN_SECONDS = 300, 600


@dataclass(frozen=True)
class Kernel:
    """A reference to time. From a case's values, `elements` gives the array sizes; `numbers` names the scalars."""

    slug: str
    gpu_values: Mapping[str, int]
    cpu_values: Mapping[str, int]
    elements: Callable[[Mapping[str, int]], Sequence[int]]
    numbers: Sequence[str]

    def case(self, *, is_gpu: bool) -> Case:
        """Returns the case of the catalogue at which both are timed."""
        wanted = self.gpu_values if is_gpu else self.cpu_values
        cases = catalogue().get(self.slug).problem.sizes
        return next(case for case in (*cases.gpu, *cases.cpu) if wanted.items() <= case.values.items())


KERNELS = {
    one.slug: one
    for one in (
        Kernel("vector-addition", {"n": 1 << 26}, {"n": 1 << 18}, lambda sizes: [sizes["n"]] * 3, ("n",)),
        Kernel(
            "matrix-multiplication",
            {"m": 4096, "n": 4096, "k": 4096},
            {"m": 256, "n": 192, "k": 160},
            lambda sizes: [sizes["m"] * sizes["k"], sizes["k"] * sizes["n"], sizes["m"] * sizes["n"]],
            ("m", "n", "k"),
        ),
    )
}


async def compared(step: str, slug: str, context: RunContext) -> StepResult:
    """Times the kernel both ways and compares the times."""
    device, kernel = context.device.describe(), KERNELS[slug]
    if device.is_simulated:
        return StepResult(
            step, Outcome.NOT_POSSIBLE, "times of a simulated device are made up; no program can measure them"
        )
    case = kernel.case(is_gpu=device.is_gpu)
    try:
        theirs_us = await _theirs(kernel, case, context)
        ours_us = {mode.value: await _ours(kernel, case, mode, context) for mode in (TimingMode.HOT, TimingMode.COLD)}
    except (NoTimeError, ToolchainError) as error:
        return StepResult(step, Outcome.FAILED, str(error)[:2_000], details=str(error)[2_000:])
    except subprocess.TimeoutExpired as error:
        return StepResult(step, Outcome.FAILED, f"the independent program hangs: {error}")
    return judgements.of_comparison(step, ours_us, theirs_us, device)


def program_source(kernel: Kernel, case: Case, device: DeviceDescription) -> str:
    """Returns the source of the program: the defines, the reference's own kernel on a stream, and `independent.hip`."""
    maker = "cuda" if device.name == "nvidia" else "hip"
    include = "#include <cuda_runtime.h>" if maker == "cuda" else _INCLUDE
    sizes = {name: int(case.values[name]) for name in kernel.numbers}
    elements = kernel.elements(sizes)
    arguments = [*(f"(p)[{at}]" for at in range(len(elements))), *(f"{sizes[name]}" for name in kernel.numbers)]
    reference = catalogue().get(kernel.slug).solution.replace(_INCLUDE, "")
    on_a_stream = _LAUNCH.sub(r"<<<\1, 0, launch_stream>>>", reference)
    defines = {
        "GPU(name)": f"{maker}##name",
        "BUFFERS": ", ".join(map(str, elements)),
        "SWEEP": f"{_SWEEP_BYTES[device.is_gpu]}ul",
        "SAMPLES": f"{_SAMPLES[device.is_gpu]}",
        "GRAPHS": f"{int(device.is_gpu)}",
        "CALL(p, s)": f"(launch_stream = (s), solution({', '.join(arguments)}))",
    }
    lines = [include, *(f"#define {name} {value}" for name, value in defines.items())]
    return "\n".join([*lines, "static GPU(Stream_t) launch_stream;", on_a_stream, _PROGRAM.read_text("utf-8")])


def compile_command(device: DeviceDescription, source: Path, program: Path) -> list[str]:
    """Returns the command of the machine's compiler, with nothing of ours; raises ToolchainError."""
    options = ["-O3", "-std=c++20", str(source), "-o", str(program)]
    if device.name == "nvidia":
        return [cuda().nvcc, f"-arch={device.architecture}", "-x", "cu", *options]
    return [rocm().hipcc, f"--offload-arch={device.architecture}", "-x", "hip", *options]


def times_of(printed: str) -> dict[str, float]:
    """Returns the times that the program printed, in us: `events hot`, `events cold`, `graph hot`, `graph cold`."""
    words = [line.split() for line in printed.splitlines()]
    return {f"{way} {mode}": float(us) for way, mode, us in words}


async def _ours(kernel: Kernel, case: Case, mode: TimingMode, context: RunContext) -> float:
    def one_case_of(slug: str) -> Problem:
        return with_case(find_problem(slug), case)

    job = CoreJob(catalogue().get(kernel.slug).solution, Mode.BENCHMARK, kernel.slug, timing_mode=mode)
    finished = await run(job, replace(context, find_problem=one_case_of), lambda _: None)
    if finished.benchmarked is None:
        raise NoTimeError(finished)
    return finished.benchmarked.results[0].runtime_ns / 1e3


async def _theirs(kernel: Kernel, case: Case, context: RunContext) -> dict[str, float]:
    device = context.device.describe()
    source = program_source(kernel, case, device)
    if device.is_gpu:
        return _on_a_gpu(source, context)
    finished = await run(CoreJob(source, Mode.SANDBOX), context, lambda _: None)
    times = times_of(finished.stdout)
    if not times:
        raise NoTimeError(finished)
    return times


def _on_a_gpu(source: str, context: RunContext) -> dict[str, float]:
    device = context.device.describe()
    with TemporaryDirectory() as name:
        file, program = Path(name) / "independent.hip", Path(name) / "independent"
        file.write_text(source, "utf-8")
        _said(compile_command(device, file, program), _BUILD_SECONDS, {})
        # The environment selects the device and has the path of its libraries.
        environment = context.device.run_command(Path(name), BuildKind.PROGRAM).environment
        return times_of(_said([str(program)], _RUN_SECONDS, environment))


def _said(command: Sequence[str], seconds: float, environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - the machine's compiler and our own program
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=seconds, check=False
    )
    if done.returncode:
        raise ToolchainError(f"{command[0]} failed with {done.returncode}: {done.stderr[-2_000:]}")
    return done.stdout
