"""The offers of all providers, each asked within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.machines.offer import Offer
from services.vmpool.providers.provider import MachineProvider
from services.vmpool.providers.provider_set import ProviderSet

log = get_logger(__name__)

OFFERS_SECONDS = 15.0
"""Less than the time that people wait for the answer."""


@dataclass(frozen=True)
class Offering:
    """Offers in the order of the providers; `failures` maps each provider that made none to its explanation."""

    offers: Sequence[Offer]
    failures: Mapping[str, str]


async def offering_of(providers: ProviderSet, seconds: float = OFFERS_SECONDS) -> Offering:
    """Ask all providers at once. One that does not answer or breaks costs only its own offers."""
    refusals = providers.refusals
    answers = await asyncio.gather(
        *(offers_of(provider, refusals.get(provider.name, ""), seconds) for provider in providers)
    )
    failures = {name: words for name, (_, words) in zip(providers.names, answers, strict=True) if words}
    return Offering([offer for offers, _ in answers for offer in offers], failures)


async def offers_of(provider: MachineProvider, refusal: str, seconds: float) -> tuple[Sequence[Offer], str]:
    """One provider's offers, or the reason why there are none. Ends within `seconds` and raises no error.

    `refusal` says why the provider did not start; if it is set, the provider is not asked.
    """
    if refusal:
        return (), refusal
    try:
        async with asyncio.timeout(seconds):
            return await provider.offers(), ""
    except TimeoutError:
        return (), f"it has not answered for {seconds:g} s"
    except (ProviderError, OSError) as error:
        return (), str(error) or type(error).__name__
    except Exception:
        log.exception("a provider's offers failed", extra={"provider": provider.name})
        return (), "see vmpool's log"
