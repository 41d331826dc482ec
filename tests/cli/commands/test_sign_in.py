"""`wavepool login` and `logout` with a scripted gateway; tests/end_to_end has them with real services."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from wavepool_client.profiles import name_for, profile_at, save_profile

SIGN_IN, ME, TOKEN = "/api/v1/sign-in", "/api/v1/me", "/api/v1/tokens/tok_1"
OFF: dict[str, Any] = {"enabled": False, "device_authorization_endpoint": ""}


def saved_token(gateway: ScriptedGateway) -> str:
    found = profile_at(gateway.endpoint)
    return found[1].token if found else ""


def test_login_where_sign_in_is_off_says_what_to_do(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SIGN_IN, Answer(OFF))
    done = wavepool("login", "--url", gateway.endpoint)
    assert done.status == 2
    assert f"sign-in is off at {gateway.endpoint}: ask its operator for an API token" in done.err


def test_login_without_a_device_flow_sends_people_to_the_page(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SIGN_IN, Answer(OFF | {"enabled": True}))
    done = wavepool("login", "--url", gateway.endpoint)
    assert (done.status, "sign in on its page" in done.err) == (2, True)


def test_login_with_a_provider_that_is_down_tells_whose_fault_it_is(gateway: ScriptedGateway) -> None:
    problem = {"title": "Service Unavailable", "detail": "The identity provider cannot be used now."}
    gateway.on("GET", SIGN_IN, Answer(problem, 503))
    done = wavepool("login", "--url", gateway.endpoint)
    assert (done.status, "The identity provider cannot be used now." in done.err) == (3, True)


def test_logout_revokes_the_token_and_forgets_it(gateway: ScriptedGateway) -> None:
    save_profile("here", url=gateway.endpoint, token="mine")  # noqa: S106 - of a test
    gateway.on("GET", ME, Answer({"token_id": "tok_1"})).on("DELETE", TOKEN, Answer(b"", 204))
    done = wavepool("logout", "--url", gateway.endpoint)
    assert (done.status, done.err) == (0, f"signed out of {gateway.endpoint}\n")
    assert gateway.asked("DELETE", TOKEN)[0].headers["Authorization"] == "Bearer mine"
    assert saved_token(gateway) == ""


def test_logout_of_an_expired_token_forgets_it(gateway: ScriptedGateway) -> None:
    save_profile("here", url=gateway.endpoint, token="mine")  # noqa: S106 - of a test
    gateway.on("GET", ME, Answer({"title": "Unauthorized"}, 401))
    assert wavepool("logout", "--url", gateway.endpoint).status == 0
    assert saved_token(gateway) == ""


def test_logout_that_cannot_revoke_keeps_the_token_and_says_so(gateway: ScriptedGateway) -> None:
    save_profile("here", url=gateway.endpoint, token="mine")  # noqa: S106 - of a test
    gateway.on("GET", ME, Answer({"title": "Service Unavailable"}, 503))
    done = wavepool("logout", "--url", gateway.endpoint)
    assert (done.status, saved_token(gateway)) == (3, "mine")


def test_logout_of_the_last_administrator_keeps_the_token(gateway: ScriptedGateway) -> None:
    save_profile("here", url=gateway.endpoint, token="mine")  # noqa: S106 - of a test
    refusal = {"title": "Conflict", "detail": "No administrator with a working token would be left"}
    gateway.on("GET", ME, Answer({"token_id": "tok_1"})).on("DELETE", TOKEN, Answer(refusal, 409))
    done = wavepool("logout", "--url", gateway.endpoint)
    assert (done.status != 0, "No administrator" in done.err, saved_token(gateway)) == (True, True, "mine")


def test_a_named_profile_without_a_token_takes_no_other_profiles(gateway: ScriptedGateway) -> None:
    save_profile("admin", url=gateway.endpoint, token="of the administrator", use=True)  # noqa: S106 - of a test
    save_profile("ada", url=gateway.endpoint)
    gateway.on("GET", "/api/v1/costs", Answer({}))
    wavepool("--profile", "ada", "costs")
    assert "of the administrator" not in gateway.requests[-1].headers.get("Authorization", "")
    done = wavepool("--profile", "ada", "logout", "--url", gateway.endpoint)
    assert (done.status, "you are not signed in" in done.err) == (2, True)


def test_a_profile_that_moves_to_another_gateway_forgets_its_token() -> None:
    save_profile("work", url="https://one.example", token="mine")  # noqa: S106 - of a test
    assert save_profile("work", url="https://one.example/").token == "mine"  # noqa: S105 - of a test
    assert save_profile("work", url="https://two.example").token == ""


def test_gateways_of_like_names_get_profiles_of_their_own() -> None:
    save_profile(name_for("https://w.example"), url="https://w.example")
    assert name_for("http://w.example") == "w-example-2"


def test_logout_without_a_sign_in_says_so(gateway: ScriptedGateway) -> None:
    done = wavepool("logout", "--url", gateway.endpoint)
    assert (done.status, f"you are not signed in at {gateway.endpoint}" in done.err) == (2, True)


def test_a_person_who_is_not_admitted_is_not_asked_for_a_token(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SIGN_IN, Answer({"title": "Forbidden", "detail": "You may not sign in here."}, 403))
    done = wavepool("login", "--url", gateway.endpoint)
    assert (done.status, done.err) == (4, "wavepool: You may not sign in here.\n")


@pytest.mark.parametrize("command", ["login", "logout"])
def test_help_has_examples(command: str) -> None:
    done = wavepool(command, "--help")
    assert (done.status, f"wavepool {command} --url https://wavepool.example" in done.out) == (0, True)
