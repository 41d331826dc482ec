"""Sign-in over HTTP, with billing scripted: its own tests have the real provider."""

from __future__ import annotations

from datetime import timedelta

import grpc
import pytest
from wavepool.billing.v1 import sign_in_pb2

from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUTE = "/api/v1/sign-in"
NOBODY = {"Authorization": ""}
CODE = {"code": "c", "code_verifier": "v", "redirect_uri": "https://w.example/", "nonce": "n"}


async def test_options_need_no_token_and_say_if_sign_in_is_off(gateway: RunningGateway) -> None:
    answer = await gateway.http.get(ROUTE, headers=NOBODY)
    assert answer.status_code == 200
    assert answer.json() == {
        "enabled": False,
        "issuer": "",
        "client_id": "",
        "scopes": [],
        "authorization_endpoint": "",
        "device_authorization_endpoint": "",
        "token_endpoint": "",
        "public_problems": False,
    }


async def test_options_say_where_sign_in_begins(gateway: RunningGateway) -> None:
    gateway.services.answers["GetSignInOptions"] = {
        "enabled": True,
        "issuer": "https://id.example",
        "scopes": ["openid"],
    }
    options = (await gateway.http.get(ROUTE, headers=NOBODY)).json()
    assert (options["enabled"], options["issuer"], options["scopes"]) == (True, "https://id.example", ["openid"])


async def test_an_id_token_becomes_an_api_token(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(ROUTE, headers=NOBODY, json={"id_token": "a.b.c", "nonce": "n"})
    assert answer.status_code == 201
    assert answer.json() == {"id": "tok_3", "token": "wp_user", "expire_time": "2026-11-26T12:00:00Z"}
    assert gateway.calls["SignIn"] == [sign_in_pb2.SignInRequest(id_token="a.b.c", nonce="n")]  # noqa: S106


async def test_the_code_of_a_browser_is_passed_on(gateway: RunningGateway) -> None:
    assert (await gateway.http.post(ROUTE, headers=NOBODY, json=CODE)).status_code == 201
    made = sign_in_pb2.AuthorizationCode(code="c", code_verifier="v", redirect_uri="https://w.example/")
    assert gateway.calls["SignIn"] == [sign_in_pb2.SignInRequest(authorization_code=made, nonce="n")]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_provider_that_is_down_is_told_as_such(gateway: RunningGateway, method: str) -> None:
    down = refusal(grpc.StatusCode.UNAVAILABLE, "the provider is down", retry_after=timedelta(seconds=5))
    gateway.refusals.update({"SignIn": down, "GetSignInOptions": down})
    body = {"id_token": "a.b.c"} if method == "POST" else None
    answer = await gateway.http.request(method, ROUTE, headers=NOBODY, json=body)
    assert (answer.status_code, answer.json()["detail"]) == (503, "the provider is down")
    assert answer.headers["retry-after"] == "5"


async def test_an_address_that_tries_too_often_must_wait(gateway: RunningGateway) -> None:
    answers = [await gateway.http.post(ROUTE, headers=NOBODY, json={"id_token": "a.b.c"}) for _ in range(21)]
    assert [answer.status_code for answer in answers] == [201] * 20 + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 6
    assert len(gateway.calls["SignIn"]) == 20
    assert (await gateway.http.get(ROUTE, headers=NOBODY)).status_code == 200
