"""Asks providers for their faults."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.machines.offer import Source
from services.vmpool.policy.failures import Failures
from services.vmpool.providers.provider import Diagnosable, MachineProvider, ProviderFinding
from services.vmpool.providers.provider_set import ProviderSet

log = get_logger(__name__)

DIAGNOSIS_SECONDS = 20.0
"""A provider that takes longer is reported as not answering, because people wait for this."""


_RESUME = "see what its machines say (`wavepool machines --all`, `wavepool machines logs ID`), then resume"


async def findings_of(
    providers: ProviderSet, seconds: float = DIAGNOSIS_SECONDS
) -> Mapping[str, Sequence[ProviderFinding]]:
    """Each provider's findings, by its name; all are asked at once."""
    asked = await asyncio.gather(*(_findings(provider, providers, seconds) for provider in providers))
    return dict(zip(providers.names, asked, strict=True))


def stopped_findings(stopped: Mapping[Source, Failures], now: datetime) -> Mapping[str, Sequence[ProviderFinding]]:
    """A finding for each source from which nothing is rented any more, by provider."""
    found: dict[str, list[ProviderFinding]] = {}
    for source, failed in stopped.items():
        message = f"{source}: {failed.outlook(now)}"
        found.setdefault(source.provider, []).append(
            ProviderFinding("renting", ok=False, message=message, remedy=_RESUME)
        )
    return found


async def _findings(provider: MachineProvider, providers: ProviderSet, seconds: float) -> Sequence[ProviderFinding]:
    refused: list[ProviderFinding] = []
    try:
        async with asyncio.timeout(seconds):
            if provider.name in providers.refusals:
                # Somebody may just have corrected the settings.
                await providers.start(provider.name)
            if refusal := providers.refusals.get(provider.name):
                remedy = "correct what it names; it is tried again by itself, and machines of other providers go on"
                refused = [ProviderFinding("start", ok=False, message=refusal, remedy=remedy)]
            own = await provider.diagnose() if isinstance(provider, Diagnosable) else ()
            return [*refused, *own, await _offers(provider)]
    except TimeoutError:
        message = f"it has not answered for {seconds:g} s"
    except (ProviderError, OSError) as error:
        message = str(error) or type(error).__name__
    except Exception:
        log.exception("a provider's diagnosis failed", extra={"provider": provider.name})
        message = "its own diagnosis broke"
    remedy = "see vmpool's log, and the provider's settings"
    return [*refused, ProviderFinding("answer", ok=False, message=message, remedy=remedy)]


async def _offers(provider: MachineProvider) -> ProviderFinding:
    """Check that any machine can be had, or is there already, which every provider can be asked."""
    available = [offer for offer in await provider.offers() if offer.available]
    if available:
        kinds = ", ".join(sorted({f"{offer.gpu_type}:{offer.gpu_count}" for offer in available}))
        return ProviderFinding("offers", ok=True, message=f"{len(available)} now: {kinds}")
    if here := len(await provider.list_all()):
        return ProviderFinding("offers", ok=True, message=f"none beside the {here} that it has")
    remedy = "nothing is wrong with the settings where its cloud is sold out; `wavepool machines offers` shows its list"
    return ProviderFinding("offers", ok=False, message="no machine can be had now", remedy=remedy)
