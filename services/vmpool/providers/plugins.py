"""Providers are plug-ins: entry points of the group `wavepool.providers`.

Each names a callable that takes a PoolContext and gives a MachineProvider (`provider.py` says what that has to do). It
reads settings of its own, by custom from `VMPOOL_<ITS NAME>_…`, and says what is wrong with them in its exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from servicekit.plugins import PluginGroup
from services.vmpool.policy.offer_choice import OfferPolicy
from services.vmpool.providers.provider_set import ProviderSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta
    from pathlib import Path

    from services.vmpool.providers.provider import MachineProvider

PROVIDERS = PluginGroup(
    "wavepool.providers",
    "provider",
    ("start", "close", "offers", "resource_name", "provision", "observe", "release", "list_all", "order_of", "logs"),
)


@dataclass(frozen=True)
class PoolContext:
    """What every provider is told of its pool: a fact that the pool has a setting for is no provider's setting.

    `pool_name` tells this pool's machines from those of others in the same account; `idle_timeout` is for backstops
    that are to come later than the pool's own. `offers` says what is taken of what a provider offers, and `gpu_counts`
    how many GPUs a machine may have, the usual number first.
    """

    pool_name: str
    data_dir: Path
    gpu_types: tuple[str, ...]
    idle_timeout: timedelta
    offers: OfferPolicy = field(default_factory=OfferPolicy)
    gpu_counts: tuple[int, ...] = (1,)


def open_providers(names: Sequence[str], context: PoolContext) -> ProviderSet:
    """The providers, made and not started; raises UnknownPluginError, BrokenPluginError."""
    return ProviderSet([cast("MachineProvider", PROVIDERS.make(name, context)) for name in names])
