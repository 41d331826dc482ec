"""A runner of our own, in a sandbox of its own, whose calls launch an empty kernel: its word can be believed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from hipcpu.build_folder import BuildKind
from problems.kit.signature import Parameter
from services.executor.core.call.layout import layout_of, plan_bytes
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.harness import harness_source
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.messages import Order, Reply, ReplyMessage
from services.executor.core.sandbox.canary import memory_probe
from services.executor.core.sandbox.exit_reasons import DEVICE_FAULT, program_failure
from services.executor.core.sandbox.run_place import PlaceContext, RunPlace
from services.executor.core.sandbox.running import run_to_end
from services.executor.sandboxes.sandbox import SandboxedProcess

# Any arguments will do, because nothing reads them: one build serves all problems. Its chains are taken off a
# submission's, so its calls launch a kernel too: on an H200 the gap at a launch is 4 us (docs/measurements.md).
_UNIT = Unit(
    BuildKind.SOLUTION,
    '#include <hip/hip_runtime.h>\n__global__ void nothing() {}\nextern "C" void solution() { nothing<<<1, 1>>>(); }\n',
    harness_source(()),
    'extern "C" void solution()',
)


_DATA = Parameter("data", "uint8_t", pointer=True, const=True)


class _TrustedSession(RunnerSession):
    """A session without a submission: any failure in it is the machine's fault."""

    async def _begin(self, process: SandboxedProcess) -> None:
        with at_our_fault():
            await super()._begin(process)

    async def _order(self, order: Order, first: int = 0, second: int = 0) -> None:
        with at_our_fault():
            await super()._order(order, first, second)

    async def _answer(
        self, expected: Reply, seconds: float, late: Failure | None = None, busy_seconds: float = 0.0
    ) -> ReplyMessage:
        with at_our_fault():
            return await super()._answer(expected, seconds, late, busy_seconds)


@asynccontextmanager
async def trusted_runner(context: PlaceContext, cache: CompileCache) -> AsyncGenerator[RunnerSession]:
    """Opens a session of our own runner, whose build is cached after the first time. Raises InfrastructureFailure."""
    device, limits = context.device, context.limits
    async with AsyncExitStack() as cleanup:
        place = RunPlace(context, cleanup)
        builder = Builder(device, context.sandbox, cache, limits.builder)
        with at_our_fault():
            await builder.build(_UNIT, place.compile, place.run)
        session = _TrustedSession(device, place.sandbox, limits, place.channel())
        async with session.open(place.run):
            yield session


async def require_runner(context: PlaceContext, cache: CompileCache, data_bytes: int = 0) -> None:
    """Raises InfrastructureFailure if a runner of our own does not come up, take `data_bytes` and answer here, now.

    This decides whose fault it is if a runner does not come up, gives up, or finds no device. A submission can choose
    the words of its runner and its exit status, but not this.
    """
    async with trusted_runner(context, cache) as session:
        layout = layout_of([_DATA], {_DATA.name: (data_bytes,)})
        session.channel.resize(layout.file_bytes)
        session.channel.write(0, [plan_bytes(layout, {})])
        await session.load()
        await session.null_call_ns()


async def output_of(source: str, context: PlaceContext, cache: CompileCache) -> bytes:
    """Returns the stdout of a whole program of ours; raises InfrastructureFailure if it does not end well."""
    device, limits = context.device, context.limits
    async with AsyncExitStack() as cleanup:
        place = RunPlace(context, cleanup)
        builder = Builder(device, context.sandbox, cache, limits.builder)
        with at_our_fault():
            unit = Unit(BuildKind.PROGRAM, source, "", "int main()")
            await builder.build(unit, place.compile, place.run)
            end = await run_to_end(context.sandbox, device.run_command(place.run, unit.kind), limits.program)
            if failure := program_failure(end, limits.program):
                failure.details = end.stderr.decode(errors="replace").strip()
                raise failure
    return end.stdout


async def require_memory(context: PlaceContext, cache: CompileCache) -> None:
    """Raises InfrastructureFailure if the device has far less free memory than it should, now that no run is on it."""
    try:
        await output_of(memory_probe(), context, cache)
    except InfrastructureFailure as failure:
        message = "Device memory ran out while others held much of it; run again."
        raise InfrastructureFailure(message, reason=DEVICE_FAULT, details=failure.details) from failure


@contextmanager
def at_our_fault() -> Generator[None]:
    """Turns any failure of the block into the machine's fault, because the program in it is ours."""
    try:
        yield
    except Failure as failure:
        if isinstance(failure, InfrastructureFailure) and failure.reason != DEVICE_FAULT:
            raise
        message = "A runner of our own fails on this machine; run again elsewhere."
        details = "\n".join(filter(None, (failure.message, failure.details)))
        ours = InfrastructureFailure(message, details=details)
        ours.unkillable = failure.unkillable
        raise ours from failure
