"""A pool's providers by name, including those that have refused to start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Self

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import ON_THE_WAY, Machine
from services.vmpool.providers.provider import MachineProvider
from vocabulary.backoff import Backoff

log = get_logger(__name__)

START_SECONDS = 30.0
"""A provider that has not started by then counts as refused, so that the others need not wait for it."""
HANG_SECONDS = 60.0
"""A question that a provider has not answered by then is given up, and the next one asks again."""
RETRIES = Backoff(first=timedelta(seconds=10), longest=timedelta(minutes=5))


@dataclass(frozen=True)
class _Refusal:
    reason: str
    count: int
    monotonic_seconds: float

    @property
    def retry_seconds(self) -> float:
        """Time of the next try, on the monotonic clock."""
        return self.monotonic_seconds + RETRIES.pause(self.count).total_seconds()


class ProviderSet:
    """Starts its providers on entry, in order, and closes all of them on exit.

    A provider that refuses to start holds up no other. It makes no offers, and is tried again. The machines that it has
    are still observed and released.
    """

    name = "provider starts"

    def __init__(
        self, providers: Sequence[MachineProvider], monotonic_seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._monotonic_seconds = monotonic_seconds
        self._refusals: dict[str, _Refusal] = {}
        self._entered = AsyncExitStack()

    def __iter__(self) -> Iterator[MachineProvider]:
        """The providers in the order of the settings, which is the order of preference."""
        return iter(self._providers.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the providers."""
        return tuple(self._providers)

    @property
    def refusals(self) -> Mapping[str, str]:
        """Providers that have refused to start, by name, with the reason and the time of the next try."""
        now = self._monotonic_seconds()
        return {
            name: f"it refused to start: {refused.reason}; tried again in {max(0.0, refused.retry_seconds - now):.0f} s"
            for name, refused in self._refusals.items()
        }

    def named(self, name: str) -> MachineProvider:
        """The provider of that name; raises ProviderError if it was taken out of the settings with machines left."""
        try:
            return self._providers[name]
        except KeyError:
            raise ProviderError(
                f"provider {name!r} is not in the settings any more, and its machines may still cost money: "
                f"put it back into VMPOOL_PROVIDERS until they are released (there now: {', '.join(self._providers)})",
                Fault.MISCONFIGURED,
            ) from None

    def start_limit(self, machine: Machine) -> timedelta | None:
        """The time after which the start of a machine is given up; None if it is not on its way, or nobody knows."""
        provider = self._providers.get(machine.provider)
        return provider.start_timeout if provider and machine.state in ON_THE_WAY else None

    async def run_once(self) -> None:
        """Try again to start the providers that have refused, if it is time."""
        now = self._monotonic_seconds()
        due = [name for name, refused in self._refusals.items() if now >= refused.retry_seconds]
        await asyncio.gather(*(self.start(name) for name in due))

    async def start(self, name: str) -> None:
        """Start a provider, or record why it refuses."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._providers[name].start()
        except TimeoutError:
            self._note_refusal(name, f"it has not answered for {START_SECONDS:g} s")
        except (ProviderError, OSError) as error:
            self._note_refusal(name, str(error) or type(error).__name__)
        except Exception:
            # A fault of a plug-in must not keep the pool from the machines of the others.
            log.exception("a provider broke at its start", extra={"provider": name})
            self._note_refusal(name, "see vmpool's log")
        else:
            self._refusals.pop(name, None)
            log.info("provider %s is ready", name, extra={"provider": name})

    def _note_refusal(self, name: str, reason: str) -> None:
        before = self._refusals.get(name)
        count = before.count + 1 if before else 1
        self._refusals[name] = _Refusal(reason, count, self._monotonic_seconds())
        log.error("provider %s refuses to start: %s", name, reason, extra={"provider": name})

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for provider in self:
                stack.push_async_callback(provider.close)
                await self.start(provider.name)
            self._entered = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._entered.aclose()
