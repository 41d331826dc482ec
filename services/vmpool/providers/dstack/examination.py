"""Examines dstack's server: the same checks for `start`, which stops at the first fault, and for `diagnose`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.machines.offer import Offer
from services.vmpool.providers.dstack import doctor
from services.vmpool.providers.dstack.backends import present_backends
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.fleet import Fleets
from services.vmpool.providers.provider import ProviderFinding

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Examination:
    """Looks, and changes nothing. `offers` takes True for our fleet's offers, or False for those of the backends."""

    client: DstackClient
    fleets: Fleets
    config: DstackConfig
    offers: Callable[[bool], Awaitable[Sequence[Offer]]]

    async def require(self) -> None:
        """Raises ProviderError with the remedy for the first fault, or OSError if the server does not answer."""
        async for finding in self._settings():
            if not finding.ok:
                raise ProviderError(f"{finding.message}: {finding.remedy}", Fault.MISCONFIGURED)

    async def findings(self) -> Sequence[ProviderFinding]:
        """All findings, up to the first fault that leaves nothing more to see."""
        found: list[ProviderFinding] = []
        try:
            found += [finding async for finding in self._settings()]
            has_fleet = await self.fleets.ours() is not None
            found.append(doctor.offers_finding(await self.offers(has_fleet), self.config))
        except OSError as error:
            found.append(doctor.unreachable_finding(error))
        except ProviderError as error:
            found.append(ProviderFinding("access", ok=False, message=str(error), remedy="see the message"))
        return [*found, doctor.billing_finding(self.config)]

    async def _settings(self) -> AsyncIterator[ProviderFinding]:
        info = cast("Json", await self.client.ask("/api/server/get_info"))
        yield doctor.version_finding(info.get("server_version"))
        user = cast("Json", await self.client.ask("/api/users/get_my_user"))
        present = await present_backends(self.client, self.config)
        yield doctor.user_finding(user, self.config.server.project)
        yield doctor.backends_finding(self.config.market.backends, present)
        yield doctor.fleet_finding(await self.fleets.ours(), self.config)
