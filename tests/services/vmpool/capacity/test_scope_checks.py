from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta

import pytest

from services.vmpool.capacity.scope_checks import (
    check_preferences,
    check_scope_gpu_count,
    check_scope_size,
    check_scope_spot,
    longest_lived,
    possible_types,
)
from services.vmpool.errors import InvalidFieldError
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.provider import Scope
from services.vmpool.providers.provider_set import ProviderSet
from tests.services.vmpool.scripted_provider import ScriptedProvider


def pool(*scopes: Scope | None) -> ProviderSet:
    """Providers `p0`, `p1` and so on; a provider whose scope is None reports none."""
    providers = [ScriptedProvider(f"p{number}") for number in range(len(scopes))]
    for provider, scope in zip(providers, scopes, strict=True):
        if scope is not None:
            provider.scope = scope
    return ProviderSet(providers)


CLOUDS = Scope(gpu_counts=(1, 8), backends=("amddevcloud", "hotaisle"))
TYPES = ["MI300X", "MI250X", "MI210"]
HOST = Scope(gpu_counts=(1,))


@pytest.mark.parametrize("name", ["hotaisle", "HotAisle", "p0/hotaisle", "p0", "p1"])
def test_backends_and_providers_of_the_pool_may_be_preferred(name: str) -> None:
    check_preferences([name], 1, pool(CLOUDS, HOST))


@pytest.mark.parametrize(("name", "nearest"), [("hotaile", "hotaisle"), ("p1/hotaisle", "p0/hotaisle"), ("p2", "p1")])
def test_a_misspelt_backend_is_refused_with_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(InvalidFieldError, match=rf"^VMPOOL_BACKENDS: .*nearest is {nearest}$"):
        check_preferences(["hotaisle", name], 1, pool(CLOUDS, HOST))


def test_machines_of_a_size_that_nobody_has_are_refused() -> None:
    check_preferences([], 8, pool(CLOUDS, HOST))
    with pytest.raises(InvalidFieldError, match=r"^VMPOOL_GPUS_PER_MACHINE: .* 1, 8 .*it is 2, and the nearest is 1$"):
        check_preferences([], 2, pool(CLOUDS, HOST))
    with pytest.raises(InvalidFieldError, match=r"must be one of 1 \(what the providers are set up for\); it is 8"):
        check_scope_gpu_count(8, pool(CLOUDS, HOST), "p1")


def test_a_provider_that_tells_no_scope_could_have_anything() -> None:
    check_preferences(["mars"], 8, pool(HOST, None))
    check_scope_gpu_count(8, pool(HOST, None), "p1")


def test_more_gpus_than_any_machine_can_have_are_refused() -> None:
    check_scope_size(2, pool(CLOUDS, HOST))
    check_scope_size(8, pool(HOST, None))
    with pytest.raises(InvalidFieldError, match=r"^gpus: must be at most 1, as no machine here ever has more; it is 2"):
        check_scope_size(2, pool(HOST, HOST))


@pytest.mark.parametrize(
    ("scopes", "possible"),
    [((("MI300X",), ("MI210",)), ["MI300X", "MI210"]), ((("MI210",),), ["MI210"]), ((("MI210",), ()), [*TYPES])],
)
def test_a_gpu_type_that_no_provider_ever_has_cannot_be_started(
    scopes: tuple[tuple[str, ...], ...], possible: list[str]
) -> None:
    assert possible_types(TYPES, pool(*(replace(HOST, gpu_types=types) for types in scopes))) == possible


ONLY_SPOT, NO_SPOT = replace(HOST, is_spot=True), replace(HOST, is_spot=False)


@pytest.mark.parametrize(
    ("spot", "scopes", "there"),
    [
        (SpotPolicy.SPOT, (NO_SPOT, NO_SPOT), "must be on-demand"),
        (SpotPolicy.ON_DEMAND, (ONLY_SPOT,), "must be spot"),
        (SpotPolicy.SPOT, (NO_SPOT, CLOUDS), ""),
        (SpotPolicy.SPOT, (NO_SPOT, None), ""),
        (SpotPolicy.AUTO, (NO_SPOT,), ""),
        (None, (ONLY_SPOT,), ""),
    ],
)
def test_a_kind_of_machine_that_no_provider_ever_has_is_refused_and_not_asked_for_again(
    spot: SpotPolicy | None, scopes: tuple[Scope | None, ...], there: str
) -> None:
    with pytest.raises(InvalidFieldError, match=there) if there else nullcontext():
        check_scope_spot(spot, pool(*scopes))


DAY = Scope(gpu_counts=(1,), longest_life=timedelta(hours=24), life_setting="VMPOOL_DAY")
WEEK = Scope(gpu_counts=(1,), longest_life=timedelta(days=7), life_setting="VMPOOL_WEEK")


@pytest.mark.parametrize(
    ("scopes", "longest"),
    [((DAY,), DAY), ((DAY, WEEK), WEEK), ((DAY, HOST), None), ((DAY, None), None), ((), None)],
)
def test_the_longest_life_is_that_of_the_provider_with_the_highest_limit_if_all_have_one(
    scopes: tuple[Scope | None, ...], longest: Scope | None
) -> None:
    assert longest_lived(pool(*scopes)) == longest
