"""SignInService over gRPC, with people of a real provider."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.billing.v1 import identity_pb2, identity_pb2_grpc, sign_in_pb2_grpc
from wavepool.billing.v1 import sign_in_pb2 as pb

from servicekit.rpc.errors import rpc_failure
from services.billing.config import BillingSettings
from services.billing.identity.rights import Role
from services.billing.server import build_server
from tests.identity_provider.running_provider import CLIENT, running_provider
from tests.service_token import AllowedCaller

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from servicekit.rpc.errors import RpcFailure
    from services.billing.server import Alerting
    from services.billing.service.billing_service import Stores
    from tests.identity_provider.running_provider import RunningProvider

pytestmark = pytest.mark.oidc

BACK = "http://127.0.0.1:9/"
VERIFIER = "v" * 43


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


@pytest.fixture
def oidc(identity_provider: RunningProvider) -> dict[str, Any]:
    return {
        "oidc_issuer": identity_provider.issuer,
        "oidc_client_id": CLIENT,
        "oidc_teams": {"gpu-users": "research"},
        "oidc_roles": {"gpu-admins": "admin"},
    }


@pytest.fixture
def settings(tmp_path: Path, database_url: str, oidc: dict[str, Any]) -> BillingSettings:
    return BillingSettings(port=0, data_dir=tmp_path / "data", database_url=database_url, **oidc)


@pytest.fixture
def sign_in(channel: grpc.aio.Channel) -> sign_in_pb2_grpc.SignInServiceAsyncStub:
    return sign_in_pb2_grpc.SignInServiceStub(channel)


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)


async def owner(channel: grpc.aio.Channel, token: str) -> identity_pb2.AuthenticateTokenResponse:
    identity = identity_pb2_grpc.IdentityServiceStub(channel)
    return await identity.AuthenticateToken(identity_pb2.AuthenticateTokenRequest(token=token))


async def test_options_say_where_to_send_people(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub, identity_provider: RunningProvider
) -> None:
    issuer = identity_provider.issuer
    assert await sign_in.GetSignInOptions(pb.GetSignInOptionsRequest()) == pb.GetSignInOptionsResponse(
        enabled=True,
        issuer=issuer,
        client_id=CLIENT,
        scopes=["openid", "profile", "email"],
        authorization_endpoint=f"{issuer}/auth",
        device_authorization_endpoint=f"{issuer}/device/auth",
        token_endpoint=f"{issuer}/token",
    )


async def test_an_id_token_becomes_an_api_token_of_the_person_and_of_nobody_else(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub, channel: grpc.aio.Channel, identity_provider: RunningProvider
) -> None:
    first = await sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("ada")))
    again = await sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("ada")))
    other = await sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("bob")))
    ada, same, bob = [await owner(channel, made.token) for made in (first, again, other)]
    assert first.token != again.token
    assert (ada.account_id, ada.admin) == (same.account_id, True)
    assert (bob.account_id != ada.account_id, bob.admin) == (True, False)


async def test_groups_become_teams_the_token_expires_and_a_disabled_user_is_not_admitted(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub,
    channel: grpc.aio.Channel,
    stores: Stores,
    settings: BillingSettings,
    identity_provider: RunningProvider,
) -> None:
    request = pb.SignInRequest(id_token=identity_provider.id_token("ada"))
    made = await sign_in.SignIn(request)
    ada = await owner(channel, made.token)
    team = await stores.teams.get("research")
    assert team.account_id in ada.visible_account_ids
    assert made.expire_time == ada.expire_time
    left = made.expire_time.ToDatetime(tzinfo=UTC) - datetime.now(UTC)
    assert settings.oidc_token_lifetime - timedelta(minutes=1) < left <= settings.oidc_token_lifetime
    await stores.tokens.create((await stores.users.create("second", Role.ADMIN)).user_id, "laptop")
    await stores.users.update(ada.user_id, disabled=True)
    refused = await failure(sign_in.SignIn(request))
    assert (refused.code, "your user is disabled" in refused.message) == (grpc.StatusCode.PERMISSION_DENIED, True)


async def test_a_browser_signs_in_with_a_code_and_its_nonce(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub, channel: grpc.aio.Channel, identity_provider: RunningProvider
) -> None:
    def proof(nonce: str) -> pb.SignInRequest:
        code = identity_provider.code("ada", BACK, "n1", VERIFIER)
        made = pb.AuthorizationCode(code=code, code_verifier=VERIFIER, redirect_uri=BACK)
        return pb.SignInRequest(authorization_code=made, nonce=nonce)

    signed_in = await sign_in.SignIn(proof("n1"))
    assert (await owner(channel, signed_in.token)).token_id == signed_in.token_id
    for nonce in ("n2", ""):
        refused = await failure(sign_in.SignIn(proof(nonce)))
        assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
        assert "its nonce is not the one of this sign-in" in refused.message


async def test_whoever_is_called_like_the_first_account_does_not_get_it(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub,
    channel: grpc.aio.Channel,
    stores: Stores,
    identity_provider: RunningProvider,
) -> None:
    local = await stores.users.create("local", Role.ADMIN)
    eve = await sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("eve")))
    found = await owner(channel, eve.token)
    assert (found.account_id != local.account_id, found.admin) == (True, False)


async def test_forged_tokens_are_refused(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub, identity_provider: RunningProvider
) -> None:
    header, claims, signature = identity_provider.id_token("bob").split(".")
    read = json.loads(base64.urlsafe_b64decode(claims + "=="))
    raised = base64.urlsafe_b64encode(json.dumps(read | {"groups": ["gpu-admins"]}).encode()).decode().rstrip("=")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for forged in (f"{header}.{raised}.{signature}", f"{unsigned}.{raised}.", f"{unsigned}.{claims}.{signature}", ""):
        refused = await failure(sign_in.SignIn(pb.SignInRequest(id_token=forged)))
        assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
        assert refused.violations[0][0] == "id_token"


async def test_the_token_of_another_program_is_refused(
    sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub, identity_provider: RunningProvider
) -> None:
    token = identity_provider.id_token("ada", "something-else")
    refused = await failure(sign_in.SignIn(pb.SignInRequest(id_token=token)))
    assert (refused.code, f"its aud is not {CLIENT!r}" in refused.message) == (grpc.StatusCode.INVALID_ARGUMENT, True)


@pytest.mark.parametrize("client_id", ["wavepool-es256", "wavepool-eddsa"])
async def test_a_provider_may_sign_in_other_ways(
    client_id: str, settings: BillingSettings, stores: Stores, alerting: Alerting, identity_provider: RunningProvider
) -> None:
    server = build_server(settings.model_copy(update={"oidc_client_id": client_id}), stores, alerting)
    await server.start()
    async with AllowedCaller(f"127.0.0.1:{server.port}", settings.service_token()) as channel:
        stub = sign_in_pb2_grpc.SignInServiceStub(channel)
        assert (await stub.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("ada", client_id)))).token
    await server.stop()


async def test_a_provider_that_is_down_is_no_fault_of_the_person(
    settings: BillingSettings, stores: Stores, alerting: Alerting
) -> None:
    with running_provider() as provider:
        token = provider.id_token("ada")
    server = build_server(settings.model_copy(update={"oidc_issuer": provider.issuer}), stores, alerting)
    await server.start()
    async with AllowedCaller(f"127.0.0.1:{server.port}", settings.service_token()) as channel:
        stub = sign_in_pb2_grpc.SignInServiceStub(channel)
        options = stub.GetSignInOptions(pb.GetSignInOptionsRequest())
        for call in (stub.SignIn(pb.SignInRequest(id_token=token)), options):
            refused = await failure(call)
            assert refused.code is grpc.StatusCode.UNAVAILABLE
            assert "This is no fault of yours, and API tokens work as before" in refused.message
            assert refused.retry_after is not None
    await server.stop()


class TestAdmission:
    @pytest.fixture
    def oidc(self, identity_provider: RunningProvider) -> dict[str, Any]:
        return {
            "oidc_issuer": identity_provider.issuer,
            "oidc_client_id": CLIENT,
            "oidc_admitted_groups": ("gpu-users",),
        }

    async def test_a_person_whom_the_operator_does_not_admit_gets_no_token_and_no_account(
        self,
        sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub,
        stores: Stores,
        identity_provider: RunningProvider,
    ) -> None:
        refused = await failure(sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("bob"))))
        assert refused.code is grpc.StatusCode.PERMISSION_DENIED
        assert "you are not in a group that may use this Wavepool" in refused.message
        assert (await sign_in.SignIn(pb.SignInRequest(id_token=identity_provider.id_token("ada")))).token


class TestOff:
    @pytest.fixture
    def oidc(self) -> dict[str, Any]:
        return {}

    async def test_without_a_provider_sign_in_is_off_and_says_so(
        self, sign_in: sign_in_pb2_grpc.SignInServiceAsyncStub
    ) -> None:
        assert await sign_in.GetSignInOptions(pb.GetSignInOptionsRequest()) == pb.GetSignInOptionsResponse()
        refused = await failure(sign_in.SignIn(pb.SignInRequest()))
        assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
        assert "off here. Use an API token" in refused.message
