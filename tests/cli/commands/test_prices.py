from __future__ import annotations

from typing import Any

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool

PRICE: dict[str, Any] = {
    "gpu_type": "MI300X",
    "spot": False,
    "price_usd_per_hour": 1.99,
    "start_time": "2026-11-01T00:00:00Z",
    "end_time": None,
    "text": "AMD MI300X (192GB, $1.99/hr)",
    "source": "SETTINGS",
}
QUOTE: dict[str, Any] = {
    "hour_usd": 1.99,
    "price_usd": 0.235943,
    "minimum_usd": 0.000001,
    "hold_usd": 0.4975,
    "duration_seconds": 426.83,
    "longest_run_seconds": 900.0,
    "lines": [
        {"gpu_type": "MI300X", "price_usd_per_hour": 1.99, "hour_usd": 1.99, "price_usd": 0.235943, "minimum_usd": 1e-6}
    ],
}


def test_prices_are_listed(gateway: ScriptedGateway) -> None:
    answer = {"currency": "USD", "prices": [PRICE]}
    gateway.on("GET", "/api/v1/prices", Answer(answer))
    for words in (("prices",), ("prices", "list")):
        assert "AMD MI300X (192GB, $1.99/hr)" in wavepool(*words, "--endpoint", gateway.endpoint).out
    assert wavepool("prices", "--json", "--endpoint", gateway.endpoint).json == answer


def test_the_history_says_who_set_a_price(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/prices/history", Answer({"periods": [PRICE]}))
    run = wavepool("prices", "history", "MI300X", "--endpoint", gateway.endpoint)
    assert all(word in run.out for word in ("$1.990000", "ordinary", "settings")), run.out
    assert gateway.requests[-1].path == "/api/v1/prices/history?gpu_type=MI300X"


def test_a_price_is_set_from_an_instant_on(gateway: ScriptedGateway) -> None:
    gateway.on("POST", "/api/v1/prices", Answer(PRICE, status=201))
    options = ("--from", "2027-01-01T00:00:00+00:00", "--until", "2027-02-01T00:00Z", "--spot", "--minimum", "60")
    run = wavepool("prices", "set", "mi300x", "0.99", *options, "--endpoint", gateway.endpoint)
    assert (run.status, run.out) == (0, "AMD MI300X (192GB, $1.99/hr) from 2026-11-01 00:00:00 UTC\n")
    body = gateway.requests[-1].body
    assert (body["gpu_type"], body["price_usd_per_hour"], body["spot"]) == ("mi300x", 0.99, True)
    assert {name[:13] for name in (body["start_time"], body["end_time"])} == {"2027-01-01T00", "2027-02-01T00"}
    assert (body["minimum_billed_seconds"], body["replace_planned"]) == (60, False)


def test_a_price_from_now_on_names_no_time(gateway: ScriptedGateway) -> None:
    gateway.on("POST", "/api/v1/prices", Answer(PRICE, status=201))
    assert wavepool("prices", "set", "MI300X", "2", "--json", "--endpoint", gateway.endpoint).json == PRICE
    assert not {"start_time", "end_time"} & set(gateway.requests[-1].body)


def test_a_time_that_is_none_is_an_input_error(gateway: ScriptedGateway) -> None:
    run = wavepool("prices", "set", "MI300X", "2", "--from", "tomorrow", "--endpoint", gateway.endpoint)
    assert (run.status, "--from: 'tomorrow' is not a time" in run.err) == (2, True), run.err
    assert not gateway.requests


def test_a_refused_price_shows_billings_own_words(gateway: ScriptedGateway) -> None:
    refused = {"title": "Conflict", "detail": "Another price of MI300X begins at 2027-01-01T00:00:00Z", "status": 409}
    gateway.on("POST", "/api/v1/prices", Answer(refused, status=409))
    run = wavepool("prices", "set", "MI300X", "2", "--endpoint", gateway.endpoint)
    assert run.status != 0
    assert "begins at 2027-01-01" in run.err


def test_a_quote_says_the_most_that_a_submission_can_cost(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/quote", Answer(QUOTE))
    options = ("--gpu", "MI300X", "--fallback-gpu", "MI210", "--seconds", "426.83")
    run = wavepool("quote", *options, "--endpoint", gateway.endpoint)
    assert all(words in run.out for words in ("$0.235943", "7 min 7 s", "$0.497500 on hold", "after 15 min")), run.out
    query = "gpu_type=MI300X&gpu_type=MI210&gpus=1&eighths=8&spot=false&duration_seconds=426.83"
    assert gateway.requests[-1].path == f"/api/v1/quote?{query}"
    for fraction, eighths in (("0.1", 1), ("0.3", 4), ("0.5", 4), ("0.51", 8)):
        assert wavepool("quote", "--fraction", fraction, "--endpoint", gateway.endpoint).status == 0
        assert f"&eighths={eighths}&" in gateway.requests[-1].path
    assert wavepool("quote", "--fraction", "1.1", "--endpoint", gateway.endpoint).status == 2
    assert wavepool("quote", "--json", "--endpoint", gateway.endpoint).json == QUOTE
