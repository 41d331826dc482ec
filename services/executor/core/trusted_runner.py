"""A runner of our own, in a box of its own, whose calls do nothing: what it says of the machine can be believed."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from services.executor.core.build import Builder, Unit
from services.executor.core.run_place import Provisions, RunPlace
from services.executor.core.session import RunnerSession
from services.executor.devices.device import BuildKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from services.executor.core.cache import CompileCache
    from services.executor.core.events import Event

# Any arguments do, as nothing looks at them: one build serves all problems.
_UNIT = Unit(
    BuildKind.SOLUTION,
    'extern "C" void solution() {}\n',
    'extern "C" void wavepool_call(void**) {}\n',
    'extern "C" void solution()',
)


@asynccontextmanager
async def trusted_runner(provisions: Provisions, cache: CompileCache) -> AsyncGenerator[RunnerSession]:
    """Its session; the build comes from the cache but for the first time. Raises Failure."""
    device, limits = provisions.device, provisions.limits
    async with AsyncExitStack() as cleanup:
        place = RunPlace(provisions, cleanup)
        builder = Builder(device, provisions.sandbox, cache, limits.builder)
        await builder.build(_UNIT, place.compile, place.run, _tell_nobody)
        session = RunnerSession(device, place.sandbox, limits, place.channel())
        async with session.open(place.run):
            yield session


def _tell_nobody(event: Event) -> None:
    del event
