"""The providers of a pool, by name."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from services.vmpool.providers.provider import MachineProvider

log = get_logger(__name__)


class ProviderSet:
    """Starts its providers on entry, in order, and closes those that were started on exit."""

    def __init__(self, providers: Sequence[MachineProvider]) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._started = AsyncExitStack()

    def __iter__(self) -> Iterator[MachineProvider]:
        """The providers, in the order of the settings, which is the order of preference."""
        return iter(self._providers.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(self._providers)

    def named(self, name: str) -> MachineProvider:
        """The provider of that name; ProviderError for one that was taken out of the settings with machines left."""
        try:
            return self._providers[name]
        except KeyError:
            raise ProviderError(
                f"provider {name!r} is not in the settings any more, and its machines may still cost money: "
                f"put it back into VMPOOL_PROVIDERS until they are released (there now: {', '.join(self._providers)})",
                Fault.MISCONFIGURED,
            ) from None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for provider in self:
                stack.push_async_callback(provider.close)
                await provider.start()
                log.info("provider %s is ready", provider.name, extra={"provider": provider.name})
            self._started = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._started.aclose()
