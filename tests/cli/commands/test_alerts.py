from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from wavepool_client.text.start_times import time_text

ALERT = {
    "id": "alert_1",
    "rule": "account-credit-spent-80",
    "severity": "WARNING",
    "phase": "FIRING",
    "no_data": True,
    "since": "2026-01-01T00:00:00Z",
    "summary": "ada has spent $8.00",
}
INSTANT = "2026-01-01T00:00:00.123456Z"


@pytest.mark.parametrize("arguments", [("alerts",), ("alerts", "list")])
def test_active_alerts_are_shown(gateway: ScriptedGateway, arguments: tuple[str, ...]) -> None:
    gateway.on("GET", "/api/v1/alerts", Answer({"alerts": [ALERT]}))
    out = wavepool(*arguments, "--endpoint", gateway.endpoint).out
    assert all(text in out for text in ("account-credit-spent-80", "WARNING", "FIRING, no data", "ada has spent")), out
    assert wavepool(*arguments, "--json", "--endpoint", gateway.endpoint).json == [ALERT]


def test_it_says_so_if_no_alert_is_active(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/alerts", Answer({"alerts": []}))
    ended = wavepool("alerts", "--endpoint", gateway.endpoint)
    assert (ended.status, ended.err.strip()) == (0, "no alert is active")


def transition(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"altr_{number}", "event": "FIRED", "rule": "queue-long", "deliveries": [], **fields}


def test_the_history_is_read_page_by_page_up_to_the_limit(gateway: ScriptedGateway) -> None:
    pages = [
        {"transitions": [transition(1), transition(2)], "next_page_token": "more"},
        {"transitions": [transition(3), transition(4)], "next_page_token": "yet more"},
    ]
    gateway.on("GET", "/api/v1/alerts/history", *map(Answer, pages))
    shown = wavepool("alerts", "history", "-n", "3", "--json", "--account", "acc_1", "--endpoint", gateway.endpoint)
    assert [one["id"] for one in shown.json] == ["altr_1", "altr_2", "altr_3"]
    assert [request.path for request in gateway.requests] == [
        "/api/v1/alerts/history?page_size=100&account_id=acc_1",
        "/api/v1/alerts/history?page_size=100&account_id=acc_1&page_token=more",
    ]


def test_the_history_shows_what_became_of_each_message(gateway: ScriptedGateway) -> None:
    sent = [
        {"channel": "ops", "outcome": "WAITING", "failure": "it answered HTTP 503"},
        {"channel": "log", "outcome": "DELIVERED", "failure": ""},
    ]
    page = {"transitions": [transition(1, deliveries=sent)], "next_page_token": ""}
    gateway.on("GET", "/api/v1/alerts/history", Answer(page))
    out = " ".join(wavepool("alerts", "history", "--endpoint", gateway.endpoint).out.split())
    assert "ops waiting:" in out, out


def test_rules_and_channels_are_shown(gateway: ScriptedGateway) -> None:
    listed = {
        "rules": [
            {"name": "calls", "severity": "INFO", "reading": "x", "comparison": "<=", "threshold": 7, "for_seconds": 60}
        ],
        "channels": [{"name": "ops", "kind": "slack", "least_severity": "WARNING"}],
    }
    gateway.on("GET", "/api/v1/alerts/rules", Answer(listed))
    shown = wavepool("alerts", "rules", "--endpoint", gateway.endpoint)
    assert "x <= 7 for 60 s" in shown.out
    assert "channel ops (slack) gets WARNING and above" in shown.err
    assert wavepool("alerts", "rules", "--json", "--endpoint", gateway.endpoint).json == listed


@pytest.mark.parametrize(
    ("deliveries", "code", "said"),
    [
        ([{"channel": "ops", "delivered": True, "failure": ""}], 0, "ops: delivered"),
        ([{"channel": "ops", "delivered": False, "failure": "it answered HTTP 503"}], 3, "ops: it answered HTTP 503"),
    ],
)
def test_a_channel_is_tried_and_the_exit_status_tells(
    gateway: ScriptedGateway, deliveries: list[dict[str, Any]], code: int, said: str
) -> None:
    gateway.on("POST", "/api/v1/alerts/test", Answer({"deliveries": deliveries}))
    ended = wavepool("alerts", "test", "ops", "--endpoint", gateway.endpoint)
    assert (ended.status, ended.err.strip()) == (code, said)
    assert gateway.requests[-1].body == {"channel": "ops"}
    as_json = wavepool("alerts", "test", "--json", "--endpoint", gateway.endpoint)
    assert (as_json.status, as_json.json) == (code, deliveries)


@pytest.mark.parametrize(
    ("subcommand", "answer"),
    [
        ("list", {"alerts": [{"rule": "queue-long", "since": INSTANT}]}),
        ("history", {"transitions": [{"rule": "queue-long", "time": INSTANT, "deliveries": []}]}),
        ("rules", {"rules": [{"name": "calls", "threshold": 7, "for_seconds": 60, "last_reading_time": INSTANT}]}),
    ],
)
def test_people_read_local_times_with_their_zone(
    gateway: ScriptedGateway, subcommand: str, answer: dict[str, Any]
) -> None:
    gateway.on("GET", f"/api/v1/alerts{'' if subcommand == 'list' else f'/{subcommand}'}", Answer(answer))
    out = " ".join(wavepool("alerts", subcommand, "--endpoint", gateway.endpoint).out.split())
    assert (time_text(INSTANT) in out, INSTANT in out) == (True, False), out
