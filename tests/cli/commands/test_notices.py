"""`wavepool notices`."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool

ROUTE = "/api/v1/me/notices"
NEVER = {"notify": "never", "email": "ada@example.org", "available": True}


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    monkeypatch.setenv("WAVEPOOL_TOKEN", "t")
    gateway.on("GET", ROUTE, Answer(NEVER))


def test_without_an_argument_the_choice_and_the_address_are_shown(gateway: ScriptedGateway) -> None:
    run = wavepool("notices")
    assert (run.status, run.err.splitlines()) == (
        0,
        ["never: no mail when a submission or reservation ends", "address: ada@example.org"],
    )
    assert wavepool("notices", "--user", "bob", "--json").json == NEVER
    assert gateway.asked("GET", ROUTE)[-1].path == f"{ROUTE}?user=bob"


def test_a_missing_address_and_a_missing_mail_server_are_named(gateway: ScriptedGateway) -> None:
    gateway.only("GET", ROUTE, Answer({"notify": "always", "email": "", "available": False}))
    err = wavepool("notices").err
    assert "address: none; an administrator can add one" in err
    assert "the operator has set no mail server" in err


def test_a_choice_is_sent(gateway: ScriptedGateway) -> None:
    gateway.on("PATCH", ROUTE, Answer(NEVER | {"notify": "failed"}))
    run = wavepool("notices", "FAILED", "--user", "bob")
    assert (run.status, run.err.startswith("failed: a mail when")) == (0, True)
    (asked,) = gateway.asked("PATCH", ROUTE)
    assert (asked.body, asked.path) == ({"notify": "failed"}, f"{ROUTE}?user=bob")


def test_an_unknown_choice_is_refused_here(gateway: ScriptedGateway) -> None:
    assert wavepool("notices", "sometimes").status == 2
    assert gateway.asked("PATCH", ROUTE) == []


def test_a_refusal_is_shown(gateway: ScriptedGateway) -> None:
    refusal = {"title": "Conflict", "status": 409, "detail": "Mails to users are off here"}
    gateway.on("PATCH", ROUTE, Answer(refusal, 409))
    run = wavepool("notices", "always")
    assert (run.status != 0, "Mails to users are off here" in run.err) == (True, True)
