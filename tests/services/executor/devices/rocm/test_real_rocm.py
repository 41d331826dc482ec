"""The rocm device with AMD's real compiler and runtime, over a stand-in for the driver: no kernels run.

To test all sources, not only these: `ROCM_PATH=.cache/rocm6/usr python -m benchmarks.recordable --device rocm`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.recordable import sources
from hipcpu.build_folder import REPLAYER
from problems.kit.signature import Parameter
from services.executor.core.call.layout import GUARD_BYTES, layout_of, plan_bytes
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.commands.record_command import recorded
from services.executor.core.compile.build import install
from services.executor.core.compile.cache import CompileCache
from services.executor.core.launching.contract import unit_of
from services.executor.core.launching.program import LaunchProgram, program_bytes
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import find_problem
from services.executor.core.run.one_run import run
from services.executor.core.sandbox.channel import Channel
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.devices.rocm import toolchain
from services.executor.sandboxes.choice import choose_sandbox
from submissions.modes import Mode
from tests.kept_builds import LIMIT_BYTES, kept_folder
from tests.needs import ROCM
from tests.services.executor.sandboxes.rocm_user_space.machine import machine
from tests.services.executor.sandboxes.rocm_user_space.standin import StandinDevice, compile_programs, show_machine
from tests.tiers import sampled

pytestmark = [pytest.mark.rocm, pytest.mark.bubblewrap]

SOURCES = {path.stem if kind == "honest kernel" else slug: (slug, path) for kind, slug, path in sources()}
# Types, instructions, headers and launches that differ between our headers and AMD's.
SAMPLE = ("nvfp4-gemm", "softmax_hipcub_blocks", "frobenius_norm_grid_sync", "conv2d_constant_filter")
CHOSEN = [
    *SAMPLE,
    *("ecc-point-negation", "grayscale_uchar_style", "matvec_dpp", "cosine_similarity_sync_mask", "nvfp4_gemm_lambda"),
    *("log_softmax_cooperative_groups", "matmul_swish_bias_first", "frobenius_norm_thread_group"),
]
NOT_LAUNCHED_BY_US = {
    "elu_assert": "a kernel calls the host",
    "selu_printf": "a kernel calls the host",
    "tanh_device_heap": "a kernel calls the host",
    "cumsum_hipcub_device": "device-wide functions of hipCUB",
}
# An idle machine needs a tenth of the first; tests of a hanging GPU wait for all of the second, and keep a core busy.
COPY_SECONDS, CALL_SECONDS = 20.0, 5.0
DATA_BYTES = 3 << 20
"""Large enough that the runtime does not use kernels for the copy."""


@pytest.fixture
async def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunContext:
    """A context with one GPU of a machine described in files."""
    tmp_path.chmod(0o755)
    monkeypatch.setenv("ROCM_PATH", str(ROCM))
    toolchain.rocm.cache_clear()
    (device,) = machine(tmp_path / "sys", 1)
    show_machine(tmp_path, monkeypatch)
    programs = tmp_path / "programs"
    programs.mkdir()
    compile_programs(programs)
    return RunContext(
        StandinDevice([device], tmp_path, programs),
        await choose_sandbox("bubblewrap"),
        CompileCache(kept_folder("builds") or tmp_path / "builds", LIMIT_BYTES),
        find_problem,
        limits=replace(StageLimits(), start_seconds=60, copy_seconds=COPY_SECONDS, call_seconds=CALL_SECONDS),
    )


@pytest.fixture(autouse=True)
def forget_rocm() -> Iterator[None]:
    yield
    toolchain.rocm.cache_clear()


@pytest.mark.parametrize("name", sampled(CHOSEN, SAMPLE))
async def test_a_source_is_compiled_and_our_runner_can_launch_its_kernels(context: RunContext, name: str) -> None:
    slug, path = SOURCES[name]
    problem = find_problem(slug)
    found = await recorded(path.read_text("utf-8"), problem, problem.sizes.cpu, context)
    assert all(isinstance(one, LaunchProgram) for one in found), found


@pytest.mark.parametrize("name", NOT_LAUNCHED_BY_US)
async def test_what_our_runner_cannot_launch_is_compiled_and_reported(context: RunContext, name: str) -> None:
    slug, path = SOURCES[name]
    problem = find_problem(slug)
    found = await recorded(path.read_text("utf-8"), problem, problem.sizes.cpu, context)
    assert all(isinstance(one, NotRecordableError) and NOT_LAUNCHED_BY_US[name] in str(one) for one in found), found


async def test_our_runner_comes_up_moves_data_and_learns_that_the_gpu_runs_no_kernel(context: RunContext) -> None:
    """Events, memory and copies are the runtime's own, by the copy engines; a ping's timestamps need kernels."""
    data = Parameter("data", "uint8_t", pointer=True, const=False, output=True)
    layout = layout_of([data], {data.name: (DATA_BYTES,)})
    at = layout.regions[data.name].offset + GUARD_BYTES
    sent, back = bytes(number % 251 for number in range(DATA_BYTES)), bytearray(DATA_BYTES)
    async with AsyncExitStack() as cleanup:
        session = await cleanup.enter_async_context(trusted_runner(context, context.cache))
        session.channel.resize(layout.file_bytes)
        session.channel.write(0, [plan_bytes(layout, {})])
        session.channel.write(at, [sent])
        await session.load()
        session.channel.write(at, [bytes(DATA_BYTES)])
        await session.store()
        session.channel.read(at, [memoryview(back)])
        assert back == sent
        with pytest.raises(InfrastructureFailure, match="runner of our own fails") as caught:
            await session.null_call_ns()
    assert "within 5 seconds" in caught.value.details, caught.value


async def test_a_code_object_is_loaded_and_its_kernels_are_found(context: RunContext, tmp_path: Path) -> None:
    """The replayer loads the image that hipcc made, and looks up kernels by name."""
    slug, path = SOURCES["ecc-point-negation"]
    problem = find_problem(slug)
    (case, *_) = problem.sizes.cpu
    source = path.read_text("utf-8")
    (program,) = await recorded(source, problem, [case], context)
    assert isinstance(program, LaunchProgram)
    unknown = replace(program, later=tuple(replace(one, kernel="nobody") for one in program.later))
    for folder in ("compile", "run", "replay"):
        (tmp_path / folder).mkdir(mode=0o755)
    unit = unit_of(source, problem)
    build = await context.builder.build(unit, tmp_path / "compile", tmp_path / "run")
    install(build.parts[REPLAYER], tmp_path / "replay" / "runner")
    await take(context, tmp_path / "replay", program)
    with pytest.raises(Failure, match="NotFound"):
        await take(context, tmp_path / "replay", unknown)


async def take(context: RunContext, folder: Path, program: LaunchProgram) -> None:
    with ScratchFolder(folder.parent) as scratch:
        session = RunnerSession(context.device, context.sandbox, context.limits, Channel(scratch))
        async with session.open(folder):
            await session.take_program(program_bytes(program))


async def test_a_gpu_that_does_not_end_a_call_is_not_the_authors_fault(context: RunContext) -> None:
    finished = await run(CoreJob(SOURCES["relu"][1].read_text("utf-8"), Mode.CHECK, "relu"), context, lambda _: None)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert "runner of our own fails" in finished.message, finished
