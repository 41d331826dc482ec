"""A provider that changes its keys while people sign in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from servicekit.clock import SystemClock
from services.billing.service.billing_service import Stores
from services.billing.sign_in.id_token import InvalidIdTokenError
from services.billing.sign_in.identity_provider import READ_INTERVAL_SECONDS, IdentityProvider
from services.billing.sign_in.membership import MembershipRules
from services.billing.sign_in.sign_in import SignIn
from tests.identity_provider.running_provider import CLIENT, RunningProvider, running_provider

pytestmark = pytest.mark.oidc


class Stopwatch:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def sign_in(provider: RunningProvider, stores: Stores, watch: Stopwatch) -> SignIn:
    return SignIn(
        IdentityProvider(provider.issuer, CLIENT, watch),
        ("openid",),
        MembershipRules("groups", {}, {}),
        stores.outside_identities,
        SystemClock(),
        timedelta(hours=1),
    )


async def test_new_keys_are_taken_at_once_and_old_ones_no_longer(
    sign_in: SignIn, provider: RunningProvider, watch: Stopwatch
) -> None:
    old = provider.id_token("ada")
    await sign_in.with_id_token(old, "")
    provider.rotate_keys()
    watch.seconds += READ_INTERVAL_SECONDS
    await sign_in.with_id_token(provider.id_token("ada"), "")
    await sign_in.with_id_token(provider.id_token("ada"), "")
    assert provider.count("/jwks") == 2
    with pytest.raises(InvalidIdTokenError, match="a key that the identity provider does not publish"):
        await sign_in.with_id_token(old, "")


async def test_forged_keys_do_not_make_us_flood_the_provider(
    sign_in: SignIn, provider: RunningProvider, watch: Stopwatch
) -> None:
    unknown = provider.id_token("ada")
    provider.rotate_keys()
    for _ in range(20):
        watch.seconds += READ_INTERVAL_SECONDS / 10
        with pytest.raises(InvalidIdTokenError):
            await sign_in.with_id_token(unknown, "")
    assert provider.count("/jwks") == 2
