"""The device flow against a real provider; the test enters the code while the client would wait."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.identity_provider.running_provider import CLIENT, SCOPES, approve, deny
from wavepool_client.errors import AuthenticationError, ServerError, UnreachableError
from wavepool_client.http.device_flow import DeviceFlow

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.identity_provider.running_provider import RunningProvider

pytestmark = pytest.mark.oidc


class Waiting:
    """A clock that moves when somebody sleeps, and does what the test planned for each sleep."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.slept: list[float] = []
        self._steps = list(steps)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._steps:
            self._steps.pop(0)()

    def monotonic(self) -> float:
        return sum(self.slept)


@pytest.fixture
def options(identity_provider: RunningProvider) -> dict[str, Any]:
    for path in ("/device/auth", "/token"):
        identity_provider.answer(path, 200, {}, times=0)
    return {
        "client_id": CLIENT,
        "scopes": SCOPES.split(),
        "device_authorization_endpoint": f"{identity_provider.issuer}/device/auth",
        "token_endpoint": f"{identity_provider.issuer}/token",
    }


def flow_of(options: dict[str, Any], waiting: Waiting) -> DeviceFlow:
    return DeviceFlow(options, waiting.sleep, waiting.monotonic)


def nothing() -> None:
    pass


def test_the_token_comes_once_the_code_is_entered(options: dict[str, Any]) -> None:
    waiting = Waiting(nothing, nothing, lambda: approve(code.complete_uri, "ada"))
    flow = flow_of(options, waiting)
    code = flow.begin()
    assert code.user_code in code.complete_uri
    assert code.complete_uri.startswith(code.verification_uri)
    assert flow.id_token(code).count(".") == 2
    # The provider names no interval, and RFC 8628 then says 5 s.
    assert waiting.slept == [5, 5, 5]


def test_a_person_who_declines_is_told_so(options: dict[str, Any]) -> None:
    waiting = Waiting(nothing, lambda: deny(code.complete_uri, "ada"))
    flow = flow_of(options, waiting)
    code = flow.begin()
    with pytest.raises(AuthenticationError, match="the sign-in was declined"):
        flow.id_token(code)


def test_slow_down_lengthens_every_later_wait(options: dict[str, Any], identity_provider: RunningProvider) -> None:
    waiting = Waiting(nothing, nothing, nothing, lambda: approve(code.complete_uri, "ada"))
    flow = flow_of(options, waiting)
    code = flow.begin()
    identity_provider.answer("/token", 400, {"error": "slow_down"}, times=2)
    flow.id_token(code)
    assert waiting.slept == [5, 10, 15, 15]


def test_a_provider_that_does_not_answer_is_asked_less_and_less_often(
    options: dict[str, Any], identity_provider: RunningProvider
) -> None:
    waiting = Waiting(nothing, nothing, lambda: approve(code.complete_uri, "ada"))
    flow = flow_of(options, waiting)
    code = flow.begin()
    identity_provider.answer("/token", 502, {}, times=2)
    flow.id_token(code)
    assert waiting.slept == [5, 10, 20]


def test_the_interval_is_the_providers(options: dict[str, Any], identity_provider: RunningProvider) -> None:
    began = {
        "device_code": "d",
        "user_code": "U",
        "verification_uri": f"{identity_provider.issuer}/device",
        "expires_in": 60,
        "interval": 7,
    }
    identity_provider.answer("/device/auth", 200, began)
    identity_provider.answer("/token", 200, {"id_token": "a.b.c"})
    waiting = Waiting()
    flow = flow_of(options, waiting)
    code = flow.begin()
    assert (code.complete_uri, flow.id_token(code)) == (code.verification_uri, "a.b.c")
    assert waiting.slept == [7]


def test_a_code_that_nobody_enters_expires(options: dict[str, Any], identity_provider: RunningProvider) -> None:
    waiting = Waiting()
    flow = flow_of(options, waiting)
    code = flow.begin()
    with pytest.raises(AuthenticationError, match="the code expired before it was entered; run `wavepool login` again"):
        flow.id_token(code)
    assert sum(waiting.slept) == code.expires_in_seconds
    identity_provider.answer("/token", 400, {"error": "expired_token"})
    with pytest.raises(AuthenticationError, match="the code expired"):
        flow_of(options, Waiting()).id_token(code)


@pytest.mark.parametrize(
    ("path", "status", "body", "fault"),
    [
        ("/device/auth", 401, {"error": "invalid_client"}, "refuses this Wavepool \\(invalid_client\\); report it"),
        ("/device/auth", 400, {"error": "x", "error_description": "why"}, "refuses this Wavepool \\(x: why\\)"),
        ("/device/auth", 404, {}, "refuses this Wavepool \\(404\\)"),
        ("/device/auth", 200, {}, "lacks what the device flow needs"),
        ("/device/auth", 200, [], "answers 200 without a JSON object"),
        ("/token", 400, {"error": "unauthorized_client"}, "refuses this Wavepool \\(unauthorized_client\\)"),
        ("/token", 200, {"access_token": "x"}, "sent no ID token"),
    ],
)
def test_a_provider_that_refuses_us_is_the_operators_matter(
    options: dict[str, Any],
    identity_provider: RunningProvider,
    path: str,
    status: int,
    body: Any,
    fault: str,
) -> None:
    flow = flow_of(options, Waiting())
    code = flow.begin() if path == "/token" else None
    identity_provider.answer(path, status, body)
    with pytest.raises(ServerError, match=fault):
        flow.id_token(code or flow.begin())


@pytest.mark.parametrize("address", ["http://id.example.org/device", "file:///etc/passwd", "javascript:x", ""])
def test_nobody_is_sent_to_an_address_without_protection(
    options: dict[str, Any], identity_provider: RunningProvider, address: str
) -> None:
    began = {"device_code": "d", "user_code": "U", "verification_uri": address, "expires_in": 60}
    identity_provider.answer("/device/auth", 200, began)
    with pytest.raises(ServerError, match="is not an https URL"):
        flow_of(options, Waiting()).begin()
    with pytest.raises(ServerError, match="is not an https URL"):
        flow_of(options | {"device_authorization_endpoint": address}, Waiting()).begin()


def test_a_provider_that_is_not_there_is_named(options: dict[str, Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/device"
    with pytest.raises(UnreachableError, match=f"the identity provider does not answer at {url}"):
        flow_of(options | {"device_authorization_endpoint": url}, Waiting()).begin()
