"""What all providers offer together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.vmpool.offer import Offer
    from services.vmpool.providers.provider import MachineProvider
    from services.vmpool.providers.provider_set import ProviderSet


@dataclass(frozen=True)
class Offering:
    """Offers in the order of the providers; `failures` has what those said that made none, by provider."""

    offers: Sequence[Offer]
    failures: Mapping[str, str]


async def offering_of(providers: ProviderSet) -> Offering:
    """Ask all providers at once; one that does not answer holds up nobody's offers but its own."""
    answers = await asyncio.gather(*(_asked(provider) for provider in providers))
    failures = {name: words for name, (_, words) in zip(providers.names, answers, strict=True) if words}
    return Offering([offer for offers, _ in answers for offer in offers], failures)


async def _asked(provider: MachineProvider) -> tuple[Sequence[Offer], str]:
    try:
        return await provider.offers(), ""
    except (ProviderError, OSError) as error:
        return (), str(error) or type(error).__name__
