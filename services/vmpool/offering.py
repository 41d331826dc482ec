"""What all providers offer together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.vmpool.offer import Offer
    from services.vmpool.providers.provider import MachineProvider
    from services.vmpool.providers.provider_set import ProviderSet

log = get_logger(__name__)

OFFERS_SECONDS = 15.0
"""Less than people wait for the answer."""


@dataclass(frozen=True)
class Offering:
    """Offers in the order of the providers; `failures` has what those said that made none, by provider."""

    offers: Sequence[Offer]
    failures: Mapping[str, str]


async def offering_of(providers: ProviderSet) -> Offering:
    """Ask all providers at once; one that does not answer, or breaks, costs nobody's offers but its own."""
    answers = await asyncio.gather(*(_asked(provider) for provider in providers))
    failures = {name: words for name, (_, words) in zip(providers.names, answers, strict=True) if words}
    return Offering([offer for offers, _ in answers for offer in offers], failures)


async def _asked(provider: MachineProvider) -> tuple[Sequence[Offer], str]:
    try:
        async with asyncio.timeout(OFFERS_SECONDS):
            return await provider.offers(), ""
    except TimeoutError:
        return (), f"it has not answered for {OFFERS_SECONDS:g} s"
    except (ProviderError, OSError) as error:
        return (), str(error) or type(error).__name__
    except Exception:
        log.exception("a provider's offers failed", extra={"provider": provider.name})
        return (), "see vmpool's log"
