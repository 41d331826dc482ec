"""Providers are plug-ins: entry points of the group `wavepool.providers`.

Each names a callable that takes a PoolContext and returns a MachineProvider (see `provider.py`). It reads its own
settings, by custom from `VMPOOL_<ITS NAME>_…`, and explains a wrong one in its exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import cast

from servicekit.settings.plugins import PluginGroup
from services.vmpool.policy.offer_choice import OfferPolicy
from services.vmpool.providers.provider import MachineProvider
from services.vmpool.providers.provider_set import ProviderSet

PROVIDERS = PluginGroup(
    "wavepool.providers",
    "provider",
    ("start", "close", "offers", "resource_name", "provision", "observe", "release", "list_all", "order_of", "logs"),
)


@dataclass(frozen=True)
class PoolContext:
    """The pool's settings that every provider gets. A provider has no settings of its own for the same facts.

    `pool_name` distinguishes this pool's machines from those of others in the same account. `idle_timeout` is for
    backstops, which are to come later than the pool's own. `offers` says which of a provider's offers are taken.
    `gpu_counts` are the numbers of GPUs that a machine may have, the usual one first.
    """

    pool_name: str
    data_dir: Path
    gpu_types: tuple[str, ...]
    idle_timeout: timedelta
    offers: OfferPolicy = field(default_factory=OfferPolicy)
    gpu_counts: tuple[int, ...] = (1,)


def open_providers(names: Sequence[str], context: PoolContext) -> ProviderSet:
    """The providers, made but not started; raises UnknownPluginError or BrokenPluginError."""
    return ProviderSet([cast("MachineProvider", PROVIDERS.make(name, context)) for name in names])
