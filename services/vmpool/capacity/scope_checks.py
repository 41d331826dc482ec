"""Refuses anything that no provider of the pool could ever offer. A provider without a scope could offer anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.order_checks import check_backend, check_gpu_count
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.provider import Scope, Scoped
from services.vmpool.providers.provider_set import ProviderSet


def check_preferences(backends: Sequence[str], gpu_count: int, providers: ProviderSet) -> None:
    """Raises InvalidFieldError for a backend that no provider has, or if none has machines with that many GPUs."""
    check_scope_gpu_count(gpu_count, providers, field="VMPOOL_GPUS_PER_MACHINE")
    scopes = _scopes(providers.names, providers)
    if scopes is not None:
        known = [name for provider, scope in scopes.items() for name in _names(provider, scope)]
        for backend in backends:
            check_backend(backend, list(dict.fromkeys(known)), "VMPOOL_BACKENDS")


def check_scope_gpu_count(gpu_count: int, providers: ProviderSet, provider: str = "", field: str = "gpu_count") -> None:
    """Raises InvalidFieldError if `provider` can never have a machine with that many GPUs.

    If `provider` is empty, it is enough that one of the providers can.
    """
    scopes = _scopes([provider] if provider else providers.names, providers)
    if scopes is not None:
        check_gpu_count(gpu_count, field, sorted({count for scope in scopes.values() for count in scope.gpu_counts}))


def check_scope_size(gpus: int, providers: ProviderSet) -> None:
    """Raises InvalidFieldError if no provider can ever have a machine with so many GPUs or more."""
    scopes = _scopes(providers.names, providers) or {}
    most = max((count for scope in scopes.values() for count in scope.gpu_counts), default=gpus)
    if gpus > most:
        raise InvalidFieldError("gpus", f"must be at most {most}, as no machine here ever has more; it is {gpus}")


def check_scope_spot(spot: SpotPolicy | None, providers: ProviderSet, provider: str = "") -> None:
    """Raises InvalidFieldError if `provider`, or with an empty name every provider, only has the other kind."""
    scopes = _scopes([provider] if provider else providers.names, providers)
    if spot in {None, SpotPolicy.AUTO} or not scopes:
        return
    kinds = {scope.is_spot for scope in scopes.values()}
    if kinds == {spot is not SpotPolicy.SPOT}:
        there = SpotPolicy.ON_DEMAND if spot is SpotPolicy.SPOT else SpotPolicy.SPOT
        fix = f"must be {there.value}, what the providers are set up for, or left out"
        raise InvalidFieldError("spot_policy", f"{fix}; it is {spot}")


def possible_types(gpu_types: Sequence[str], providers: ProviderSet) -> Sequence[str]:
    """Those of the GPU types of which a provider could ever have a machine."""
    scopes = _scopes(providers.names, providers)
    if scopes is None or not all(scope.gpu_types for scope in scopes.values()):
        return gpu_types
    return [one for one in gpu_types if any(one in scope.gpu_types for scope in scopes.values())]


def longest_lived(providers: ProviderSet) -> Scope | None:
    """The scope of the provider whose machines live longest; None if one of them sets no limit, or may set none."""
    scopes = _scopes(providers.names, providers)
    if not scopes or not all(scope.longest_life for scope in scopes.values()):
        return None
    return max(scopes.values(), key=lambda scope: scope.longest_life)


def _scopes(names: Sequence[str], providers: ProviderSet) -> Mapping[str, Scope] | None:
    """The scopes by provider; None if a provider has no scope."""
    scopes: dict[str, Scope] = {}
    for name in names:
        provider = providers.named(name)
        if not isinstance(provider, Scoped):
            return None
        scopes[name] = provider.scope
    return scopes


def _names(provider: str, scope: Scope) -> Sequence[str]:
    return [provider, *scope.backends, *(f"{provider}/{backend}" for backend in scope.backends)]
