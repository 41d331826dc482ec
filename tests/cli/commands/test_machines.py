from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import Answer, Stream
from tests.cli.invocation import Run, wavepool
from wavepool_client.commands.completion import complete_gpu_type, complete_machine

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway

MACHINES = "/api/v1/machines"
ID = "mach_1"
MACHINE: dict[str, Any] = {
    "id": ID,
    "state": "WARM",
    "provider": "dstack",
    "backend": "hotaisle",
    "region": "us-michigan-1",
    "gpu_type": "MI300X",
    "gpu_count": 8,
    "free_eighths": 20,
    "device_title": "AMD Instinct MI300X",
    "price_usd_per_hour": 15.92,
    "minimum_billed_seconds": 1800.0,
    "cost_usd": 3.98,
    "jobs_run": 7,
    "reason": "ready",
    "release_time": None,
}
STARTING: list[tuple[int, dict[str, Any]]] = [
    (3, {"status": "REQUESTED", "reason": "it was asked for", "elapsed_seconds": 0}),
    (
        5,
        {
            "status": "PROVISIONING",
            "stage": "pulling",
            "elapsed_seconds": 75,
            "estimate_seconds": 240,
            "estimate_p90_seconds": 605,
        },
    ),
]


def machines(gateway: ScriptedGateway, *arguments: str, **options: Any) -> Run:
    return wavepool("machines", *arguments, "--endpoint", gateway.endpoint, "--token", "secret", **options)


def machine(state: str, **fields: Any) -> Answer:
    return Answer({**MACHINE, "state": state, **fields})


@pytest.mark.parametrize("words", [(), ("list",)])
def test_machines_are_listed_with_what_each_has_cost(gateway: ScriptedGateway, words: tuple[str, ...]) -> None:
    gateway.on("GET", MACHINES, Answer({"machines": [MACHINE]}))
    line = machines(gateway, *words).out.splitlines()[1]
    for word in (ID, "WARM", "dstack/hotaisle/us-michigan-1", "8 x MI300X", "2.5 of 8", "$15.9200/h", "$3.9800"):
        assert word in line
    assert machines(gateway, *words, "--json").json == [MACHINE]


def test_a_provider_that_refused_to_start_is_named_below_the_machines(gateway: ScriptedGateway) -> None:
    refused = {"provider": "dstack", "message": "it refused to start: Access denied; tried again in 20 s"}
    gateway.on("GET", MACHINES, Answer({"machines": [MACHINE], "refused_providers": [refused]}))
    run = machines(gateway)
    assert "provider dstack: it refused to start: Access denied; tried again in 20 s" in run.err
    assert ID in run.out


STOPPED = {
    "provider": "dstack",
    "backend": "hotaisle",
    "gpu_type": "MI300X",
    "message": "unfit: no device; 3 machines in a row cost money and ran nothing",
}


def test_what_nothing_is_rented_from_is_named_below_the_machines(gateway: ScriptedGateway) -> None:
    gateway.on("GET", MACHINES, Answer({"machines": [], "refused_providers": [], "stopped_sources": [STOPPED]}))
    said = "MI300X at dstack/hotaisle: unfit: no device; 3 machines in a row cost money and ran nothing"
    assert said in machines(gateway).err


def test_renting_is_resumed_and_what_was_stopped_is_reported(gateway: ScriptedGateway) -> None:
    gateway.on("POST", "/api/v1/providers/resume", Answer({"resumed_sources": [STOPPED]}))
    assert "machines are rented again: MI300X at dstack/hotaisle" in machines(gateway, "resume").err
    gateway.only("POST", "/api/v1/providers/resume", Answer({"resumed_sources": []}))
    assert "nothing was stopped" in machines(gateway, "resume", "--gpu", "MI210").err
    assert gateway.requests[-1].path == "/api/v1/providers/resume?gpu_type=MI210"


def test_machines_that_are_over_are_listed_when_asked_for(gateway: ScriptedGateway) -> None:
    gateway.on("GET", MACHINES, Answer({"machines": []}))
    machines(gateway, "--all")
    assert gateway.requests[-1].path == f"{MACHINES}?include_ended=true"


def test_one_machine_is_shown_with_tariff_and_cost(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/{ID}", Answer({**MACHINE, "billing_increment_seconds": 1e-6}))
    assert "1e-06" not in machines(gateway, "show", ID).out
    gateway.only("GET", f"{MACHINES}/{ID}", Answer({**MACHINE, "billing_increment_seconds": 60.0}))
    shown = machines(gateway, "show", ID).out
    assert "$15.9200/h, at least 30 min, billed by 1 min" in shown
    assert "billing_increment" not in shown
    assert "$3.9800" in shown
    assert machines(gateway, "show", ID, "--json").json["billing_increment_seconds"] == 60.0


def test_a_machine_that_does_not_exist_is_bad_input(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/none", Answer({"title": "Not Found", "detail": "There is no machine 'none'."}, 404))
    run = machines(gateway, "show", "none")
    assert (run.status, "no machine 'none'" in run.err) == (2, True)


def test_a_log_is_printed_as_it_is(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/{ID}/logs", Answer("one\nzwölf\n".encode()))
    assert machines(gateway, "logs", "-f", "--tail", "5", ID).out == "one\nzwölf\n"
    assert gateway.requests[-1].path == f"{MACHINES}/{ID}/logs?follow=true&tail=5"


def test_a_log_that_only_administrators_may_read_is_a_matter_of_authentication(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/{ID}/logs", Answer({"detail": "This needs the token of an administrator."}, 403))
    run = machines(gateway, "logs", ID)
    assert (run.status, run.out, "administrator" in run.err) == (4, "", True)


def test_a_machine_is_drained_with_a_reason(gateway: ScriptedGateway) -> None:
    gateway.on("POST", f"{MACHINES}/{ID}/drain", machine("DRAINING", reason="a new kernel"))
    run = machines(gateway, "drain", ID, "--reason", "a new kernel")
    assert run.out == "mach_1 is draining (a new kernel); it has cost $3.9800\n"
    assert gateway.requests[-1].path == f"{MACHINES}/{ID}/drain?reason=a+new+kernel"


@pytest.mark.parametrize("verb", ["drain", "stop"])
def test_a_machine_with_reservations_is_ended_only_with_force(gateway: ScriptedGateway, verb: str) -> None:
    refusal = {"title": "Conflict", "detail": "Machine 'mach_1' has the reservations res_1."}
    gateway.on("GET", f"{MACHINES}/{ID}", machine("WARM"))
    gateway.on("POST", f"{MACHINES}/{ID}/{verb}", Answer(refusal, 409), machine("DRAINING"))
    run = machines(gateway, verb, ID)
    assert (run.status, "has the reservations res_1" in run.err) == (2, True)
    assert gateway.requests[-1].path == f"{MACHINES}/{ID}/{verb}"
    assert machines(gateway, verb, ID, "--force").status == 0
    assert gateway.requests[-1].path == f"{MACHINES}/{ID}/{verb}?force=true"


def test_a_machine_is_shown_with_its_reservations(gateway: ScriptedGateway) -> None:
    reserved = {**MACHINE, "reservation_ids": ["res_1", "res_2"]}
    gateway.on("GET", MACHINES, Answer({"machines": [reserved]})).on("GET", f"{MACHINES}/{ID}", Answer(reserved))
    assert "res_1 res_2" in machines(gateway).out
    assert "res_1, res_2" in machines(gateway, "show", ID).out


def test_an_idle_machine_is_stopped_without_being_asked(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/{ID}", machine("WARM")).on("POST", f"{MACHINES}/{ID}/stop", machine("DRAINING"))
    assert machines(gateway, "stop", ID, "--json").json["state"] == "DRAINING"


def test_a_machine_with_jobs_is_not_stopped_by_a_script_that_does_not_say_yes(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{MACHINES}/{ID}", machine("BUSY")).on("POST", f"{MACHINES}/{ID}/stop", machine("DRAINING"))
    run = machines(gateway, "stop", ID)
    assert (run.status, "--yes" in run.err) == (2, True)
    assert gateway.asked("POST", f"{MACHINES}/{ID}/stop") == []
    assert machines(gateway, "stop", ID, "--yes").status == 0
    assert len(gateway.asked("POST", f"{MACHINES}/{ID}/stop")) == 1


def test_a_request_carries_what_was_asked_for(gateway: ScriptedGateway) -> None:
    gateway.on("POST", MACHINES, Answer({"machine": MACHINE, "started": True}, 202))
    options = ("--gpu", "MI210", "--gpus", "2", "--spot", "auto", "--max-price", "2.5", "--max-hours", "1.5")
    run = machines(gateway, "request", *options, "--force-new", "--backend", "hotaisle", "--key", "k1", "--json")
    assert run.json == MACHINE
    (asked,) = gateway.requests
    assert asked.headers["Idempotency-Key"] == "k1"
    assert asked.body == {
        "gpu_type": "MI210",
        "gpu_count": 2,
        "spot": "auto",
        "backend": "hotaisle",
        "max_price_usd_per_hour": 2.5,
        "max_duration_seconds": 5400.0,
        "force_new": True,
    }


def test_a_request_whose_answer_got_lost_is_made_again_under_the_same_key(gateway: ScriptedGateway) -> None:
    gateway.on("POST", MACHINES, Answer({"title": "Service Unavailable"}, 503), Answer({"machine": MACHINE}, 202))
    assert machines(gateway, "request").status == 0
    first, second = gateway.asked("POST", MACHINES)
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] != ""


def test_a_request_that_is_refused_names_the_field_and_the_nearest_value(gateway: ScriptedGateway) -> None:
    errors = [{"field": "gpu_count", "message": "must be one of 1, 2, 4, 8; it is 9, and the nearest is 8"}]
    gateway.on("POST", MACHINES, Answer({"title": "Unprocessable", "errors": errors}, 422))
    run = machines(gateway, "request", "--gpus", "9")
    assert (run.status, "gpu_count: must be one of 1, 2, 4, 8" in run.err) == (2, True)


def test_the_start_of_a_machine_is_shown_until_it_is_ready(gateway: ScriptedGateway) -> None:
    ready = {"status": "WARM", "reason": "ready", "elapsed_seconds": 240}
    gateway.on("POST", MACHINES, Answer({"machine": {**MACHINE, "state": "REQUESTED"}, "started": True}, 202))
    gateway.on("GET", f"{MACHINES}/{ID}/events", Stream(STARTING, cut=True), Stream([(6, ready)]))
    gateway.on("GET", f"{MACHINES}/{ID}", machine("WARM"))
    run = machines(gateway, "request", "--wait")
    assert (run.status, "mach_1 is warm (ready)" in run.out) == (0, True)
    assert "Requested: it was asked for; 0 s so far" in run.err
    assert "Provisioning: pulling; 1 min 15 s so far, usually 4 min, 9 of 10 within 10 min 5 s" in run.err
    assert run.err.rstrip().endswith("Warm: ready")


def test_a_start_that_fails_is_the_infrastructure_s_fault(gateway: ScriptedGateway) -> None:
    failed = (6, {"status": "FAILED", "reason": "no MI300X is left"})
    gateway.on("POST", MACHINES, Answer({"machine": {**MACHINE, "state": "REQUESTED"}, "started": True}, 202))
    gateway.on("GET", f"{MACHINES}/{ID}/events", Stream([*STARTING, failed]))
    gateway.on("GET", f"{MACHINES}/{ID}", machine("FAILED", reason="no MI300X is left"))
    run = machines(gateway, "request", "--wait", "--json")
    assert (run.status, run.out, "no MI300X is left" in run.err) == (3, "", True)


def test_a_machine_that_stands_ready_is_not_waited_for(gateway: ScriptedGateway) -> None:
    gateway.on("POST", MACHINES, Answer({"machine": MACHINE, "started": False}, 202))
    gateway.on("GET", f"{MACHINES}/{ID}", Answer(MACHINE))
    run = machines(gateway, "request", "--wait")
    assert (run.status, "mach_1 is there: 8 x MI300X at dstack/hotaisle" in run.err) == (0, True)
    assert gateway.asked("GET", f"{MACHINES}/{ID}/events") == []


def test_offers_are_listed_with_their_tariff_and_who_made_none(gateway: ScriptedGateway) -> None:
    offer = {**MACHINE, "available": False, "spot": True, "billing_increment_seconds": 60, "charge_usd_per_hour": 20.0}
    reported = {"offers": [offer], "failures": [{"provider": "local", "message": "it is asleep"}]}
    gateway.on("GET", "/api/v1/offers", Answer(reported))
    run = machines(gateway, "offers", "--gpu", "MI300X")
    line = run.out.splitlines()[1]
    for word in ("8 x MI300X", "hotaisle", "$15.9200/h", "$20.0000/h", "30 min", "1 min", "spot", "sold out"):
        assert word in line
    assert "provider local made no offers: it is asleep" in run.err
    assert gateway.requests[-1].path == "/api/v1/offers?gpu_type=MI300X"
    assert machines(gateway, "offers", "--json").json == reported


def test_shells_complete_what_the_gateway_knows(gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    gateway.on("GET", MACHINES, Answer({"machines": [MACHINE, {**MACHINE, "id": "other"}]}))
    gateway.on("GET", "/api/v1/gpu-types", Answer({"gpu_types": [{"gpu_type": "MI325X"}, {"gpu_type": "W7900"}]}))
    assert complete_machine("mach") == [(ID, "WARM 8 x MI300X")]
    assert complete_gpu_type("mi") == ["MI325X"]


def test_shells_complete_nothing_where_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", "http://127.0.0.1:1")
    assert complete_machine("") == []
    assert complete_gpu_type("") == []
