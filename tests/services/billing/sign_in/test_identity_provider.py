"""What a real provider publishes, read and kept."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from services.billing.errors import IdentityProviderError, InvalidFieldError
from services.billing.sign_in.identity_provider import MAX_AGE_SECONDS, READ_INTERVAL_SECONDS, IdentityProvider
from tests.identity_provider.running_provider import CLIENT, RunningProvider

pytestmark = pytest.mark.oidc

DISCOVERY = "/.well-known/openid-configuration"
BACK = "http://127.0.0.1:9/"


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def provider(identity_provider: RunningProvider, watch: Stopwatch) -> IdentityProvider:
    for path in (DISCOVERY, "/jwks", "/token"):
        identity_provider.answer(path, 200, {}, times=0)
    return IdentityProvider(identity_provider.issuer, CLIENT, watch)


def discovery(address: str, **changes: Any) -> dict[str, Any]:
    return {
        "issuer": address,
        "jwks_uri": f"{address}/jwks",
        "authorization_endpoint": f"{address}/auth",
        "token_endpoint": f"{address}/token",
        **changes,
    }


async def test_endpoints_and_keys_are_read(provider: IdentityProvider) -> None:
    published = await provider.published()
    assert published.authorization_endpoint == f"{provider.issuer}/auth"
    assert published.token_endpoint == f"{provider.issuer}/token"
    assert published.device_authorization_endpoint == f"{provider.issuer}/device/auth"
    assert {key.get("alg") for key in published.keys} == {"RS256", "ES256", "EdDSA"}


async def test_a_provider_without_a_device_flow_is_one(
    provider: IdentityProvider, identity_provider: RunningProvider
) -> None:
    identity_provider.answer(DISCOVERY, 200, discovery(provider.issuer))
    assert (await provider.published()).device_authorization_endpoint == ""


async def test_what_was_read_is_kept_for_ten_minutes(
    provider: IdentityProvider, identity_provider: RunningProvider, watch: Stopwatch
) -> None:
    before = identity_provider.count("/jwks")
    await asyncio.gather(*(provider.published() for _ in range(20)))
    watch.seconds += MAX_AGE_SECONDS - 1
    await provider.published()
    assert identity_provider.count("/jwks") == before + 1
    watch.seconds += 1
    await provider.published()
    assert identity_provider.count("/jwks") == before + 2


async def test_fresh_keys_are_read_at_most_once_in_five_seconds(
    provider: IdentityProvider, identity_provider: RunningProvider, watch: Stopwatch
) -> None:
    before = identity_provider.count("/jwks")
    for _ in range(20):
        await provider.published_now()
    assert identity_provider.count("/jwks") == before + 1
    watch.seconds += READ_INTERVAL_SECONDS
    await provider.published_now()
    assert identity_provider.count("/jwks") == before + 2


async def test_a_provider_that_fails_is_asked_again_after_five_seconds(
    provider: IdentityProvider, identity_provider: RunningProvider, watch: Stopwatch
) -> None:
    identity_provider.answer(DISCOVERY, 503, {})
    before = identity_provider.count(DISCOVERY)
    for _ in range(20):
        with pytest.raises(IdentityProviderError, match=r"answers 503.*no fault of yours") as failed:
            await provider.published()
    assert failed.value.retry_after.total_seconds() == READ_INTERVAL_SECONDS
    assert identity_provider.count(DISCOVERY) == before + 1
    watch.seconds += READ_INTERVAL_SECONDS
    assert (await provider.published()).token_endpoint


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"issuer": "https://evil.example.org"}, "BILLING_OIDC_ISSUER must be the same"),
        ({"jwks_uri": "http://id.example.org/jwks"}, "its jwks_uri is 'http://id.example.org/jwks'; it must be"),
        ({"jwks_uri": None}, "its jwks_uri is None"),
        ({"token_endpoint": "file:///etc/passwd"}, "its token_endpoint is"),
        ({"token_endpoint": "https://["}, "its token_endpoint is"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "its authorization_endpoint is"),
        ({"device_authorization_endpoint": 7}, "its device_authorization_endpoint is 7"),
    ],
)
async def test_a_wrong_discovery_document_is_refused(
    provider: IdentityProvider, identity_provider: RunningProvider, changes: dict[str, Any], fault: str
) -> None:
    identity_provider.answer(DISCOVERY, 200, discovery(provider.issuer, **changes))
    with pytest.raises(IdentityProviderError) as refused:
        await provider.published()
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (200, {"keys": []}, "its keys cannot be read"),
        (200, {}, "its keys cannot be read"),
        (200, {"keys": 7}, "its keys cannot be read"),
        (200, {"keys": [{"kty": "RSA"}]}, "its keys cannot be read"),
        (200, [], "without a JSON object"),
        (500, {}, "answers 500"),
        (302, {}, "answers 302"),
    ],
)
async def test_keys_that_cannot_be_read_are_the_fault_of_the_provider(
    provider: IdentityProvider, identity_provider: RunningProvider, status: int, body: Any, fault: str
) -> None:
    identity_provider.answer("/jwks", status, body)
    with pytest.raises(IdentityProviderError, match=fault):
        await provider.published()


async def test_nothing_that_listens_is_the_fault_of_the_provider() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(IdentityProviderError, match="does not answer"):
        await IdentityProvider(f"http://127.0.0.1:{port}", CLIENT).published()


async def test_a_code_is_exchanged_once_and_only_with_its_verifier(
    provider: IdentityProvider, identity_provider: RunningProvider
) -> None:
    code = identity_provider.code("ada", BACK, "n1", "v" * 43)
    with pytest.raises(InvalidFieldError, match="the identity provider refuses it"):
        await provider.id_token(code, "w" * 43, BACK)
    code = identity_provider.code("ada", BACK, "n1", "v" * 43)
    assert (await provider.id_token(code, "v" * 43, BACK)).count(".") == 2
    with pytest.raises(InvalidFieldError, match="sign in again"):
        await provider.id_token(code, "v" * 43, BACK)


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (401, {"error": "invalid_client"}, "its token endpoint answers 401 invalid_client"),
        (400, {"error": "unauthorized_client"}, "its token endpoint answers 400 unauthorized_client"),
        (500, {}, "its token endpoint answers 500"),
        (200, {"access_token": "x"}, "its answer has no ID token"),
        (200, {"id_token": 7}, "its answer has no ID token"),
    ],
)
async def test_a_token_endpoint_that_fails_is_not_the_fault_of_the_person(
    provider: IdentityProvider, identity_provider: RunningProvider, status: int, body: Any, fault: str
) -> None:
    identity_provider.answer("/token", status, body)
    with pytest.raises(IdentityProviderError, match=fault):
        await provider.id_token("code", "v" * 43, BACK)
