"""Machines over HTTP: list, request, follow and end them; offers and diagnoses."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import grpc
import httpx
import pytest
from wavepool.vmpool.v1 import vmpool_pb2

from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, client_of, serve, settings_for
from tests.gateway.scripted_services import ADMIN_TOKEN, ScriptedServices
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
MACHINES = "/api/v1/machines"
SPEC = job_spec(problem="vector-addition", source="int x;")
NOT_FOUND = refusal(grpc.StatusCode.NOT_FOUND, "There is no machine 'm_9'.")


def machine_event(
    services: ScriptedServices,
    seq: int,
    state: vmpool_pb2.MachineState.ValueType,
    *,
    is_last: bool = False,
    reason: str = "why",
) -> None:
    machine = vmpool_pb2.Machine()
    machine.CopyFrom(services.vmpool.machine)
    machine.state = state
    if is_last:
        machine.release_time.FromSeconds(1_700_000_000)
        services.vmpool.machine.CopyFrom(machine)
    event = vmpool_pb2.MachineEvent(seq=seq, machine=machine, reason=reason, provider_stage="pulling")
    event.elapsed.FromSeconds(7)
    event.estimate.FromSeconds(40)
    event.estimate_p90.FromSeconds(90)
    services.vmpool.events.append(event)


async def test_a_machine_shows_its_place_its_tariff_and_how_it_ended(gateway: RunningGateway) -> None:
    machine = gateway.services.vmpool.machine
    machine.backend, machine.region, machine.spot = "hotaisle", "us-michigan-1", True
    machine.minimum_billed.FromSeconds(1800)
    machine.billing_increment.FromSeconds(60)
    machine.fault, machine.exit_status = vmpool_pb2.MACHINE_FAULT_EXECUTOR_EXITED, 3
    machine.origin, machine.cost_micros = vmpool_pb2.MACHINE_ORIGIN_REQUEST, 1_250_000
    shown = (await gateway.http.get(f"{MACHINES}/m_1")).json()
    assert (shown["backend"], shown["region"], shown["spot"]) == ("hotaisle", "us-michigan-1", True)
    assert (shown["minimum_billed_seconds"], shown["billing_increment_seconds"]) == (1800.0, 60.0)
    assert (shown["fault"], shown["exit_status"], shown["origin"]) == ("EXECUTOR_EXITED", 3, "REQUEST")
    assert (shown["cost_usd"], shown["price_usd_per_hour"]) == (1.25, 1.99)


async def test_a_machine_without_faults_has_none(gateway: RunningGateway) -> None:
    shown = (await gateway.http.get(f"{MACHINES}/m_1")).json()
    assert (shown["fault"], shown["exit_status"], shown["release_time"]) == (None, None, None)


async def test_a_provider_that_did_not_start_is_named_beside_the_machines(gateway: RunningGateway) -> None:
    shown = (await gateway.http.get(MACHINES)).json()
    assert [machine["id"] for machine in shown["machines"]] == ["m_1"]
    assert shown["refused_providers"] == [{"provider": "dstack", "message": "Access denied"}]


async def test_what_nothing_is_rented_from_is_listed_and_an_administrator_resumes_it(gateway: RunningGateway) -> None:
    stopped = {"provider": "dstack", "backend": "hotaisle", "gpu_type": "MI300X", "message": "three were unfit"}
    assert (await gateway.http.get(MACHINES)).json()["stopped_sources"] == [stopped]
    assert (await gateway.http.post("/api/v1/providers/resume")).status_code == 403
    assert "ResumeRenting" not in gateway.calls
    answer = await gateway.http.post("/api/v1/providers/resume?gpu_type=MI300X", headers=ADMIN)
    assert (answer.status_code, answer.json()) == (200, {"resumed_sources": [stopped]})
    assert gateway.calls["ResumeRenting"] == [vmpool_pb2.ResumeRentingRequest(gpu_type="MI300X")]


async def test_an_order_goes_to_the_pool_and_its_machine_comes_back(gateway: RunningGateway) -> None:
    order = {
        "gpu_type": "MI210",
        "gpu_count": 2,
        "provider": "dstack",
        "backend": "hotaisle",
        "region": "us-michigan-1",
        "spot": "auto",
        "max_price_usd_per_hour": 2.5,
        "max_duration_seconds": 3600,
        "force_new": True,
        "reason": "a demo",
    }
    answer = await gateway.http.post(MACHINES, json=order, headers=ADMIN | {"Idempotency-Key": "key-1"})
    assert (answer.status_code, answer.headers["Location"]) == (202, f"{MACHINES}/m_1")
    assert (answer.json()["machine"]["id"], answer.json()["started"]) == ("m_1", True)
    asked = gateway.calls["RequestMachine"][-1]
    expected = vmpool_pb2.RequestMachineRequest(
        request_id="key-1",
        gpu_type="MI210",
        gpu_count=2,
        provider="dstack",
        backend="hotaisle",
        region="us-michigan-1",
        spot_policy=vmpool_pb2.SPOT_POLICY_AUTO,
        max_price_micros_per_hour=2_500_000,
        force_new=True,
        reason="a demo",
    )
    expected.max_duration.FromSeconds(3600)
    assert asked == expected


async def test_an_empty_order_leaves_everything_to_the_pool(gateway: RunningGateway) -> None:
    assert (await gateway.http.post(MACHINES, json={}, headers=ADMIN)).status_code == 202
    asked = gateway.calls["RequestMachine"][-1]
    assert (asked.gpu_type, asked.gpu_count, asked.spot_policy) == ("", 1, 0)


@pytest.mark.parametrize("verb", ["drain", "stop"])
async def test_an_administrator_ends_a_machine_with_a_reason(gateway: RunningGateway, verb: str) -> None:
    answer = await gateway.http.post(f"{MACHINES}/m_1/{verb}?reason=it burns", headers=ADMIN)
    assert (answer.status_code, answer.json()["id"]) == (200, "m_1")
    asked = gateway.calls[f"{verb.title()}Machine"][-1]
    assert (asked.machine_id, asked.reason, asked.force) == ("m_1", "it burns", False)


@pytest.mark.parametrize("verb", ["drain", "stop"])
async def test_a_machine_with_reservations_is_ended_only_by_force(gateway: RunningGateway, verb: str) -> None:
    method = f"{verb.title()}Machine"
    gateway.refusals[method] = refusal(grpc.StatusCode.FAILED_PRECONDITION, "Machine 'm_1' has the reservations res_1.")
    answer = await gateway.http.post(f"{MACHINES}/m_1/{verb}", headers=ADMIN)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Machine 'm_1' has the reservations res_1.")
    del gateway.refusals[method]
    assert (await gateway.http.post(f"{MACHINES}/m_1/{verb}?force=true", headers=ADMIN)).status_code == 200
    assert gateway.calls[method][-1].force


async def test_reservations_of_a_machine_are_shown_to_administrators_and_hidden_from_others(
    gateway: RunningGateway,
) -> None:
    gateway.services.vmpool.machine.reservation_ids.extend(["res_01J1", "res_01J2"])
    gateway.services.vmpool.machine.reason = "reservation res_01J2 takes 1 GPU"
    shown = (await gateway.http.get(f"{MACHINES}/m_1", headers=ADMIN)).json()
    assert shown["reservation_ids"] == ["res_01J1", "res_01J2"]
    hidden = (await gateway.http.get(f"{MACHINES}/m_1")).json()
    assert len(hidden["reservation_ids"]) == 2
    assert "res_" not in json.dumps([hidden["reservation_ids"], hidden["reason"]])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", MACHINES),
        ("POST", f"{MACHINES}/m_1/drain"),
        ("POST", f"{MACHINES}/m_1/stop"),
        ("GET", f"{MACHINES}/m_1/logs"),
        ("GET", "/api/v1/providers/diagnosis"),
    ],
)
async def test_what_costs_money_or_shows_others_work_needs_an_administrator(
    gateway: RunningGateway, method: str, path: str
) -> None:
    before = {name: len(calls) for name, calls in gateway.calls.items() if "Machine" in name}
    answer = await gateway.http.request(method, path, json={} if path == MACHINES else None)
    assert answer.status_code == 403
    assert before == {name: len(calls) for name, calls in gateway.calls.items() if "Machine" in name}


async def test_a_machine_s_events_are_numbered_frames_until_it_is_released(gateway: RunningGateway) -> None:
    machine_event(gateway.services, 4, vmpool_pb2.MACHINE_STATE_PROVISIONING)
    machine_event(gateway.services, 9, vmpool_pb2.MACHINE_STATE_STOPPED, is_last=True)
    first, last = await gateway.frames("GET", f"{MACHINES}/m_1/events")
    reported = json.loads(first.data)
    assert (first.id, first.event, reported["status"]) == ("4", "PROVISIONING", "PROVISIONING")
    assert (reported["elapsed_seconds"], reported["estimate_seconds"], reported["estimate_p90_seconds"]) == (
        7.0,
        40.0,
        90.0,
    )
    assert (reported["stage"], reported["machine"]["id"], "final" in reported) == ("pulling", "m_1", False)
    assert (last.id, json.loads(last.data)["final"]) == ("9", True)
    (resumed,) = await gateway.frames("GET", f"{MACHINES}/m_1/events", headers={"Last-Event-ID": "4"})
    assert resumed.data == last.data
    assert (await gateway.http.get(f"{MACHINES}/m_1/events?after=9")).status_code == 204


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({}, "job job_1 after job (of another account): no run (of another account)-1"),
        (ADMIN, "job job_1 after job job_2: no run job_2-1"),
    ],
)
async def test_words_about_a_machine_name_a_job_to_its_owner_and_to_administrators(
    gateway: RunningGateway, headers: dict[str, str], named: str
) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.scheduler.put_job(SPEC, account_id="acc_other", job_id="job_2")
    gateway.services.vmpool.machine.reason = "job job_1 after job job_2: no run job_2-1"
    machine_event(gateway.services, 4, vmpool_pb2.MACHINE_STATE_BUSY, reason=gateway.services.vmpool.machine.reason)
    listed = (await gateway.http.get(MACHINES, headers=headers)).json()["machines"]
    shown = (await gateway.http.get(f"{MACHINES}/m_1", headers=headers)).json()
    (frame,) = await gateway.frames("GET", f"{MACHINES}/m_1/events", headers={**headers})
    event = json.loads(frame.data)
    assert [words["reason"] for words in (*listed, shown, event, event["machine"])] == [named] * 4


async def test_ids_of_jobs_stay_hidden_while_the_scheduler_is_away(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.vmpool.machine.reason = "job job_1 holds it"
    gateway.refusals["GetJob"] = refusal(grpc.StatusCode.UNAVAILABLE)
    assert "job_1" not in (await gateway.http.get(f"{MACHINES}/m_1")).json()["reason"]


async def test_a_log_is_plain_text(gateway: RunningGateway) -> None:
    gateway.services.vmpool.log = [b"one\n", "zw\u00f6lf\n".encode()]
    answer = await gateway.http.get(f"{MACHINES}/m_1/logs?tail=7", headers=ADMIN)
    assert (answer.text, answer.headers["content-type"]) == ("one\nzw\u00f6lf\n", "text/plain; charset=utf-8")
    asked = gateway.calls["GetMachineLogs"][-1]
    assert (asked.machine_id, asked.follow, asked.tail_lines) == ("m_1", False, 7)


async def test_a_followed_log_comes_as_it_is_written(gateway: RunningGateway) -> None:
    gateway.services.vmpool.log, gateway.services.vmpool.holds_streams = [b"", b"one\n"], True
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        gateway.http.stream("GET", f"{MACHINES}/m_1/logs?follow=true", headers=ADMIN) as answer,
    ):
        assert await anext(answer.aiter_bytes()) == b"one\n"


async def test_a_followed_log_ends_when_its_token_stops_working(gateway: RunningGateway) -> None:
    gateway.services.vmpool.log, later = [b"one\n"], asyncio.Queue[bytes]()
    gateway.services.vmpool.later_log = later
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        gateway.http.stream("GET", f"{MACHINES}/m_1/logs?follow=true", headers=ADMIN) as answer,
    ):
        pieces = answer.aiter_bytes()
        assert await anext(pieces) == b"one\n"
        gateway.refusals["GetCaller"] = NOT_FOUND
        later.put_nowait(b"two\n")
        assert [piece async for piece in pieces] == []


async def test_a_client_that_leaves_ends_the_call_behind_its_stream(gateway: RunningGateway) -> None:
    gateway.services.vmpool.log, gateway.services.vmpool.holds_streams = [b"one\n"], True
    async with asyncio.timeout(DEADLINE_SECONDS):
        async with gateway.http.stream("GET", f"{MACHINES}/m_1/logs?follow=true", headers=ADMIN):
            await gateway.services.vmpool.streams_held.wait()
        await gateway.services.vmpool.streams_ended.wait()


@pytest.mark.parametrize("path", ["", "/events", "/logs", "/drain", "/stop"])
async def test_what_is_asked_of_a_machine_that_does_not_exist_is_404(gateway: RunningGateway, path: str) -> None:
    for method in ("GetMachine", "GetMachineLogs", "DrainMachine", "StopMachine"):
        gateway.refusals[method] = NOT_FOUND
    verb = "POST" if path in {"/drain", "/stop"} else "GET"
    answer = await gateway.http.request(verb, f"{MACHINES}/m_9{path}", headers=ADMIN)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "no machine 'm_9'" in answer.json()["detail"]


async def test_offers_tell_price_tariff_and_who_made_none(gateway: RunningGateway) -> None:
    reported = (await gateway.http.get("/api/v1/offers?gpu_type=MI300X")).json()
    (offer,) = reported["offers"]
    assert (offer["backend"], offer["price_usd_per_hour"], offer["minimum_billed_seconds"]) == ("hotaisle", 1.99, 1800)
    assert offer["available"] is False
    assert reported["failures"] == [{"provider": "local", "message": "it is asleep"}]
    assert gateway.calls["ListOffers"][-1].gpu_type == "MI300X"


async def test_a_diagnosis_tells_what_to_do(gateway: RunningGateway) -> None:
    reported = (await gateway.http.get("/api/v1/providers/diagnosis", headers=ADMIN)).json()
    assert reported["findings"] == [
        {"provider": "dstack", "check": "token", "ok": False, "message": "it is empty", "remedy": "make one"}
    ]


async def test_a_gateway_that_stops_ends_the_streams_of_machines_in_good_order(services: ScriptedServices) -> None:
    machine_event(services, 4, vmpool_pb2.MACHINE_STATE_WARM)
    services.vmpool.log, services.vmpool.holds_streams = [b"one\n"], True
    settings = settings_for(services, drain=timedelta(seconds=60))
    async with (
        asyncio.timeout(3 * DEADLINE_SECONDS),
        serve(services, settings) as gateway,
        client_of(gateway.url) as http,
        http.stream("GET", f"{MACHINES}/m_1/logs?follow=true", headers=ADMIN) as log,
        gateway.stream("GET", f"{MACHINES}/m_1/events") as events,
    ):
        pieces = log.aiter_bytes()
        assert (await anext(pieces), (await anext(events)).event) == (b"one\n", "WARM")
        gateway.server.should_exit = True
        assert [piece async for piece in pieces] == []
        assert [event async for event in events] == []
        assert log.status_code == httpx.codes.OK
