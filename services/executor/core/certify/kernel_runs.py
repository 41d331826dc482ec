"""The steps that run kernels through the whole core."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hipcpu.build_folder import ToolchainError
from hipcpu.toolchain import compiler
from problems.kit.definition import SizeSet
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.certify import judgements, sources
from services.executor.core.certify.honest_times import NoHonestTimeError
from services.executor.core.certify.known_times import NoTimeError, measured, smallest_case_of
from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.check.mismatches import lanes_advice
from services.executor.core.compile.cache import CompileCache
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.model.events import Event, Finished
from services.executor.core.model.failure import Failure
from services.executor.core.model.flushing import calibrated_flush, flush_profile
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.run.one_run import run
from services.executor.core.run.recorded import recorded
from services.executor.core.sandbox.canary import canary_job
from services.executor.core.timing.stopping import GPU_PROFILE
from submissions.modes import Mode

FEW_CALLS = replace(GPU_PROFILE, max_samples=20, max_wall_seconds=600, warm_up_cap_seconds=600, warm_up_most_calls=30)
"""The profile of a simulated GPU, whose calls take the host's time."""
_HANG_SECONDS = 10.0
_NO_RECORDER = (
    "the cpu device's compiler is not here, which compiles the host code of submissions for the recorder: answers are "
    "judged all the same, but no time of a `solution` can be VALID. Install the packages ziglang and llvmlite for the "
    "Python that runs this, in the versions of uv.lock, or of the kit's recorder.txt"
)
_BROKEN_RECORDER = "a reference cannot be recorded here, so no time of a `solution` can be VALID"
_OVERHEAD_PROBLEM = "vector-addition"
_ONE_DEVICE = r"""
#include <hip/hip_runtime.h>
#include <stdio.h>

int main() {
    int count = 0;
    const hipError_t error = hipGetDeviceCount(&count);
    printf("%d %s\n", count, hipGetErrorString(error));
}
"""


async def reference(step: str, rest: str, context: RunContext) -> StepResult:
    """Checks a problem's own solution, at the sizes of `cpu` or of GPUs."""
    slug, _, sizes = rest.partition("/")
    job = CoreJob(catalogue().get(slug).solution, Mode.CHECK, slug, size_set=SizeSet(sizes))
    return judgements.of_check(step, await _run(job, context))


async def honest(step: str, name: str, context: RunContext) -> StepResult:
    """Checks a kernel of tests/honest."""
    problem, source = sources.honest_source(name)
    device = context.device.describe()
    refused = sources.refused_on(device.name).get(name, "")
    for_64_lanes = bool(lanes_advice(source, device.wavefront_size))
    finished = await _run(CoreJob(source, Mode.CHECK, problem), context)
    return judgements.of_check(step, finished, refused, for_64_lanes=for_64_lanes)


async def recorder(step: str, context: RunContext) -> StepResult:
    """Tests whether times of contract H can be VALID here, by recording a reference's launches.

    `context` is that of the `cpu` device, whose compiler makes recorders for all devices.
    """
    try:
        compiler()
    except ToolchainError as error:
        return StepResult(step, Outcome.FAILED, f"{_NO_RECORDER} ({error})")
    entry = catalogue().get(_OVERHEAD_PROBLEM)
    try:
        found = await recorded(entry.solution, entry.problem, entry.problem.sizes.cpu[:1], context)
    except Failure as failure:
        return StepResult(step, Outcome.FAILED, f"{_BROKEN_RECORDER}: {failure.message}", details=failure.details)
    if reasons := [str(one) for one in found if isinstance(one, NotRecordableError)]:
        return StepResult(step, Outcome.FAILED, f"{_BROKEN_RECORDER}: {reasons[0]}")
    return StepResult(step, Outcome.PASSED, "host code of submissions can be recorded")


async def attack(step: str, name: str, context: RunContext) -> StepResult:
    """Submits an attack of tests/attacks, or performs a staged one."""
    manifest, staged = sources.attack_manifest(), sources.staged_attacks()
    fitted = _for_attacks(context)
    device = context.device.describe().name

    async def submit(attempt: Any, seed: str, replacements: Mapping[str, str]) -> Finished:  # noqa: ANN401 - of tests
        job = replace(attempt.job(**replacements), seed=seed)
        return await _run(job, attempt.fitted(fitted))

    if name in staged:
        return judgements.of_attack(step, await staged[name](submit))
    attempt = manifest.attempt_named(name)
    finished = await submit(attempt, "", {})
    try:
        wrong = attempt.shortcoming(finished, device) or await attempt.unfair_gain(finished, fitted)
    except NoHonestTimeError as error:
        wrong = str(error)
    return judgements.of_attack(step, wrong, str(manifest.Outcome.reached(finished)))


async def spread(step: str, true_us: float, runs: int, context: RunContext) -> StepResult:
    """Submits a kernel of known time several times."""
    try:
        return judgements.of_spread(step, await measured(true_us, runs, context))
    except NoTimeError as error:
        return StepResult(step, Outcome.FAILED, str(error))


async def canary(step: str, context: RunContext) -> StepResult:
    """Runs the canary, the program that runs between two runs."""
    return judgements.of_check(step, await _run(canary_job(context.device.describe()), context))


async def devices_seen(step: str, context: RunContext) -> StepResult:
    """Tests whether a program in a sandbox finds the leased device and no other."""
    finished = await _run(CoreJob(_ONE_DEVICE, Mode.SANDBOX), context)
    if finished.stdout.startswith("1 "):
        return StepResult(step, Outcome.PASSED, "a program in the sandbox finds one device")
    why = f"a program in the sandbox finds not one device, but: {finished.stdout.strip() or finished.message}"
    return StepResult(step, Outcome.FAILED, why, details=finished.details or finished.stderr)


async def sweep(step: str, context: RunContext) -> StepResult:
    """Measures how much has to be swept through the caches before a cold call."""
    device = context.device.describe()
    context.device.toolchain()
    async with trusted_runner(context, context.cache) as trusted:
        flush = await calibrated_flush(trusted, flush_profile(device))
    return judgements.of_sweep(step, flush, is_gpu=device.is_gpu)


async def submission(step: str, name: str, context: RunContext) -> StepResult:
    """Times a whole submission: with nothing compiled before, or as the next one on a machine that has run it."""
    is_gpu = context.device.describe().is_gpu
    job = CoreJob(catalogue().get(_OVERHEAD_PROBLEM).solution, Mode.FULL, _OVERHEAD_PROBLEM)
    with TemporaryDirectory() as folder:
        fitted = replace(_quick_if_simulated(context), cache=CompileCache(Path(folder) / "builds", 256 << 20))
        if name == "next-submission":
            await _run(replace(job, mode=Mode.CHECK), fitted)
        begin, begin_time = time.perf_counter(), time.time()
        finished = await _run(job, fitted)
        seconds = time.perf_counter() - begin
    until_first = (finished.first_call_time or begin_time) - begin_time
    return judgements.of_submission(step, finished, seconds, until_first, is_gpu=is_gpu)


def _for_attacks(context: RunContext) -> RunContext:
    """Keeps the usual limits on a GPU. Elsewhere hangs end soon, and an attack can fill only a little memory."""
    device = context.device.describe()
    if device.has_own_memory:
        return context
    default = StageLimits()
    limits = replace(default, runner=replace(default.runner, memory_mib=256), call_seconds=_HANG_SECONDS)
    return _quick_if_simulated(replace(context, limits=limits))


def _quick_if_simulated(context: RunContext) -> RunContext:
    """Limits a simulated device to few calls of one case: its times are made up, and its calls take the host's time."""
    if not context.device.describe().is_simulated:
        return context
    return replace(context, profile=FEW_CALLS, find_problem=smallest_case_of)


async def _run(job: CoreJob, context: RunContext) -> Finished:
    return await run(job, context, _ignore)


def _ignore(event: Event) -> None:
    del event
