"""Reservations over HTTP, on a scripted scheduler."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.billing.v1 import identity_pb2
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2 as pb

from gateway.reservations import schemas
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_answers import EXPIRES_AT
from tests.gateway.scripted_reservations import HOST_KEY, reservation
from tests.gateway.scripted_services import ADMIN_TOKEN, OPERATOR_TOKEN, OTHER_TOKEN, USER_TOKEN
from vocabulary.ssh_keys import Key

pytestmark = pytest.mark.asyncio(loop_scope="module")

RESERVATIONS = "/api/v1/reservations"
ONE = f"{RESERVATIONS}/res_01J"
BODY: dict[str, Any] = {
    "gpu_type": "mi300x",
    "gpu_count": 2,
    "hours": 1.5,
    "name": "training",
    "keys": [{"public_key": "ssh-ed25519 AAAA"}, {"user": "bob", "public_key": "ssh-ed25519 BBBB"}],
}
FINGERPRINT = Key("", "ssh-ed25519 AAAA").fingerprint


def headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_reservation_is_made_for_its_user_and_charged_to_the_account_of_the_token(
    gateway: RunningGateway,
) -> None:
    answer = await gateway.http.post(RESERVATIONS, json=BODY, headers={"Idempotency-Key": "k1"})

    assert (answer.status_code, answer.headers["Location"]) == (202, ONE)
    request = gateway.calls["CreateReservation"][-1]
    assert (request.account_id, request.user_id, request.idempotency_key) == ("acc_user", "user_user", "k1")
    spec = request.spec
    assert (spec.gpu_type, spec.gpus, spec.duration.seconds, spec.name) == ("mi300x", 2, 5400, "training")
    assert [(key.user, key.public_key) for key in spec.keys] == [
        ("demo", "ssh-ed25519 AAAA"),
        ("bob", "ssh-ed25519 BBBB"),
    ]


def pairs(keys: Any) -> list[tuple[str, str]]:
    return [(key.user, key.public_key) for key in keys]


async def test_without_keys_a_reservation_takes_all_that_billing_finds_of_its_user(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(RESERVATIONS, json={"hours": 1})

    calls = gateway.calls
    assert (calls["ResolveKeys"][-1].caller_token_id, calls["ResolveKeys"][-1].person) == ("tok_1", "")
    assert pairs(calls["CreateReservation"][-1].spec.keys) == [
        ("demo", "ssh-ed25519 AAAA"),
        ("demo", "ssh-ed25519 CCCC"),
    ]
    added = [(key["user"], key["fingerprint"], key["origin"]) for key in answer.json()["added_keys"]]
    assert added[0] == ("demo", FINGERPRINT, "wavepool")
    assert answer.json()["notes"] == ["github.com does not answer"]


async def test_given_keys_are_joined_with_found_ones_only_if_that_is_asked_for_and_each_is_one(
    gateway: RunningGateway,
) -> None:
    given = {"hours": 1, "keys": [{"public_key": "ssh-ed25519 AAAA demo@laptop"}, {"public_key": "ssh-ed25519 BBBB"}]}
    await gateway.http.post(RESERVATIONS, json=given)
    assert "ResolveKeys" not in gateway.calls
    answer = await gateway.http.post(RESERVATIONS, json={**given, "own_keys": True})
    assert pairs(gateway.calls["CreateReservation"][-1].spec.keys) == [
        ("demo", "ssh-ed25519 AAAA demo@laptop"),
        ("demo", "ssh-ed25519 BBBB"),
        ("demo", "ssh-ed25519 CCCC"),
    ]
    assert [key["origin"] for key in answer.json()["added_keys"]] == ["given", "given", "github.com/demo"]


@pytest.mark.parametrize(
    ("code", "status", "field"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, 422, "keys"),
        (grpc.StatusCode.UNAVAILABLE, 503, None),
        (grpc.StatusCode.PERMISSION_DENIED, 403, None),
    ],
)
async def test_who_has_no_key_makes_no_reservation_and_hears_why(
    gateway: RunningGateway, code: grpc.StatusCode, status: int, field: str | None
) -> None:
    said = "github.com/alice.keys is empty: add a key at https://github.com/settings/keys, or `wavepool keys add`"
    gateway.refusals["ResolveKeys"] = refusal(code, said, (), timedelta(seconds=5))
    answer = await gateway.http.post(RESERVATIONS, json={"hours": 1})
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True)
    assert [error["field"] for error in answer.json()["errors"]] == ([field] if field else [])
    assert "CreateReservation" not in gateway.calls


@pytest.mark.parametrize(
    ("code", "status", "notes"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, 202, []),
        (grpc.StatusCode.UNAVAILABLE, 202, ["why"]),
        (grpc.StatusCode.PERMISSION_DENIED, 403, None),
    ],
)
async def test_with_a_key_at_hand_only_a_refused_team_keeps_somebody_out(
    gateway: RunningGateway, code: grpc.StatusCode, status: int, notes: Any
) -> None:
    gateway.refusals["ResolveKeys"] = refusal(code, "why", (), timedelta(seconds=5))
    body = {"hours": 1, "keys": [{"public_key": "ssh-ed25519 BBBB"}], "own_keys": True}
    answer = await gateway.http.post(RESERVATIONS, json=body)
    assert (answer.status_code, answer.json().get("notes")) == (status, notes)


async def test_others_may_log_in_from_the_start_on_beside_its_user(gateway: RunningGateway) -> None:
    bob = identity_pb2.ResolveKeysResponse(
        user="bob", keys=[identity_pb2.ResolvedKey(public_key="ssh-ed25519 BBBB", origin="wavepool")]
    )
    gateway.services.identity.resolved["bob"] = bob
    add = [{"user": "bob"}, {"user": "eve", "public_key": "ssh-ed25519 EEEE"}]
    body = {"hours": 1, "keys": [{"public_key": "ssh-ed25519 AAAA"}], "add_users": add}
    answer = await gateway.http.post(RESERVATIONS, json=body)
    assert pairs(gateway.calls["CreateReservation"][-1].spec.keys) == [
        ("demo", "ssh-ed25519 AAAA"),
        ("eve", "ssh-ed25519 EEEE"),
        ("bob", "ssh-ed25519 BBBB"),
    ]
    assert [(key["user"], key["origin"]) for key in answer.json()["added_keys"]][1:] == [
        ("eve", "given"),
        ("bob", "wavepool"),
    ]


async def test_nothing_is_reserved_if_the_keys_of_somebody_who_is_to_log_in_are_not_found(
    gateway: RunningGateway,
) -> None:
    gateway.refusals["ResolveKeys"] = refusal(grpc.StatusCode.NOT_FOUND, "why", (), timedelta(seconds=5))
    body = {"hours": 1, "keys": [{"public_key": "ssh-ed25519 AAAA"}], "add_users": [{"user": "bob"}]}
    answer = await gateway.http.post(RESERVATIONS, json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "add_users")
    assert "why If you have a key of theirs, give it: NAME=FILE" in answer.json()["detail"]
    assert "CreateReservation" not in gateway.calls


async def test_people_are_added_by_name_after_their_keys_are_found(gateway: RunningGateway) -> None:
    found = identity_pb2.ResolveKeysResponse(
        user="alice@github", keys=[identity_pb2.ResolvedKey(public_key="ssh-ed25519 AAAA", origin="github.com/alice")]
    )
    gateway.services.identity.resolved["github:alice"] = found
    add = [{"user": "github:alice"}, {"user": "bob", "public_key": "ssh-ed25519 BBBB"}, {"user": "github:alice"}]
    answer = await gateway.http.post(f"{ONE}/users", json={"add": add})

    calls = gateway.calls
    assert [call.person for call in calls["ResolveKeys"]] == ["github:alice"]
    added = pairs(calls["UpdateReservation"][-1].add_keys)
    assert added == [("bob", "ssh-ed25519 BBBB"), ("alice@github", "ssh-ed25519 AAAA")]
    assert answer.json()["added_keys"][1] == {
        "user": "alice@github",
        "type": "ssh-ed25519",
        "fingerprint": FINGERPRINT,
        "origin": "github.com/alice",
    }


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (grpc.StatusCode.NOT_FOUND, 422),
        (grpc.StatusCode.FAILED_PRECONDITION, 422),
        (grpc.StatusCode.INVALID_ARGUMENT, 422),
        (grpc.StatusCode.PERMISSION_DENIED, 403),
        (grpc.StatusCode.UNAVAILABLE, 503),
    ],
)
async def test_nobody_is_added_if_somebodys_keys_are_not_found(
    gateway: RunningGateway, code: grpc.StatusCode, status: int
) -> None:
    wrong = (("person", "why"),) if code is grpc.StatusCode.INVALID_ARGUMENT else ()
    gateway.refusals["ResolveKeys"] = refusal(code, "why", wrong, timedelta(seconds=5))
    body = {"add": [{"user": "eve"}, {"user": "bob", "public_key": "ssh-ed25519 BBBB"}], "remove": ["carl"]}
    answer = await gateway.http.post(f"{ONE}/users", json=body)
    assert (answer.status_code, "why" in answer.json()["detail"]) == (status, True)
    assert [error["field"] for error in answer.json()["errors"]] == (["add"] if status == 422 else [])
    assert "UpdateReservation" not in gateway.calls


async def test_the_machines_of_a_reservation_that_has_several_are_shown_by_rank(gateway: RunningGateway) -> None:
    gateway.services.reservations.found.nodes.add(rank=0, state=pb.RESERVATION_STATE_ACTIVE)
    gateway.services.reservations.found.nodes.add(
        rank=1,
        machine_id="machine-b",
        machine_gpus=range(8),
        state=pb.RESERVATION_STATE_ACTIVE,
        host_key=HOST_KEY,
        login_user="dev",
        gaps=["A gap."],
        ready_time=gateway.services.reservations.found.active_time,
    )
    first, second = (await gateway.http.get(ONE)).json()["nodes"]
    assert (first["rank"], first["machine_id"], first["ready_at"], first["host_key"]) == (0, None, None, None)
    assert second == {
        "rank": 1,
        "machine_id": "machine-b",
        "machine_gpus": list(range(8)),
        "state": "active",
        "ready_at": "2027-01-15T08:00:00Z",
        "host_key": HOST_KEY,
        "login_user": "dev",
        "gaps": ["A gap."],
    }


async def test_several_machines_are_asked_for_by_name(gateway: RunningGateway) -> None:
    body = {"hours": 1, "gpu_count": 16, "distributed": True, "allow_slow_links": True}
    quoted = (await gateway.http.post(f"{RESERVATIONS}/quote", json=body)).json()
    assert (quoted["gpu_count"], quoted["machines"]) == (16, 1)
    asked = gateway.calls["QuoteReservation"][-1].spec
    assert (asked.gpus, asked.distributed, asked.allow_slow_links) == (16, True, True)


async def test_a_reservation_is_shown_with_the_names_that_gpu_dev_uses(gateway: RunningGateway) -> None:
    shown = (await gateway.http.get(ONE)).json()

    left = shown.pop("time_left_seconds")
    assert 0 < left < 4_000_000_000 - 1_700_000_000
    assert shown == {
        "id": "res_01J",
        "name": "training",
        "owner": "ada",
        "owner_id": "user_ada",
        "account_id": "acc_user",
        "state": "active",
        "message": "People can log in.",
        "gpu_type": "MI300X",
        "machine_gpu_type": "MI300X",
        "gpu_count": 2,
        "machine_id": "m_1",
        "machine_gpus": [0, 3],
        "hours": 1.5,
        "queue": "default",
        "priority": 0,
        "fallback_gpu_types": [],
        "create_time": "2027-01-15T07:43:20Z",
        "start_time": None,
        "launched_at": None,
        "active_at": "2027-01-15T08:00:00Z",
        "expires_at": "2096-10-02T07:06:40Z",
        "end_time": None,
        "position": None,
        "eta_p50": None,
        "eta_p90": None,
        "disk_name": "work",
        "disk_safe_time": "2027-01-15T08:00:00Z",
        "disk_fault": "the home is too large",
        "image": "registry.example/rocm:6.2",
        "build_digest": None,
        "preserve_entrypoint": True,
        "image_digest": "sha256:1234",
        "steps": [{"name": "queue", "seconds": 2.5}],
        "extensions": [{"hours": 0.5, "at": "2027-01-15T08:00:00Z", "by": "ada"}],
        "history": [],
        "gaps": ["Nothing limits memory."],
        "nodes": [],
        "software": {"driver": "6.12.12", "rocm": "6.4.1"},
        "host_key": HOST_KEY,
        "login_user": "dev",
        "ssh_command": "wavepool connect res_01J",
        "users": ["ada"],
        "editors": [],
        "keys": [{"user": "ada", "type": "ssh-ed25519", "fingerprint": FINGERPRINT}],
        "oom_count": 1,
        "last_oom_at": "2027-01-15T08:00:00Z",
        "last_login_at": None,
        "idle_since": "2027-01-15T08:00:00Z",
        "borrowed_gpus": 2.0,
        "recall_time": "2027-01-15T08:00:00Z",
        "recall_queue": "blue",
        "connections": 2,
        "price_per_gpu_hour": 1.99,
        "hold_usd": 5.97,
        "cost_usd": 0.1,
        "machine_cost_usd": None,
        "overhead_usd": None,
        "surplus_usd": None,
        "events_url": f"{ONE}/events",
    }


async def test_what_its_gpus_cost_is_shown_beside_the_charge_once_it_had_some(gateway: RunningGateway) -> None:
    gateway.services.reservations.found = reservation(attempts=2)
    shown = (await gateway.http.get(ONE)).json()
    assert (shown["cost_usd"], shown["machine_cost_usd"], shown["overhead_usd"]) == (0.1, 0.25, 0.15)
    asked = gateway.calls["GetWorkCost"][-1]
    assert (asked.subject, asked.attempts) == ("res_01J", 2)
    gateway.refusals["GetWorkCost"] = refusal(grpc.StatusCode.UNAVAILABLE)
    answer = await gateway.http.get(ONE)
    assert (answer.status_code, answer.json()["machine_cost_usd"]) == (200, None)


async def test_the_names_in_the_table_for_people_from_gpu_dev_are_those_of_the_answers() -> None:
    page = (Path(__file__).parents[2] / "docs/reservations.md").read_text()
    rows = page.split("| `reservation_id` |")[1].split("\n\n")[0].splitlines()
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[-2])}
    states = {state.value for state in schemas.ReservationState}
    known = {*schemas.Reservation.model_fields, *schemas.GpuAvailability.model_fields}
    assert named - states - known == set()
    same = page.split("Names that are not listed, such as")[1].split("are the same")[0]
    assert set(re.findall(r"`([a-z_]+)`", same)) - known == set()


async def test_a_reservation_of_a_newer_scheduler_is_shown_with_the_number_of_its_state(
    gateway: RunningGateway,
) -> None:
    gateway.services.reservations.found = reservation(state=99, spec=pb.ReservationSpec())
    shown = (await gateway.http.get(ONE)).json()
    assert (shown["state"], shown["gpu_count"], shown["time_left_seconds"]) == ("unknown_99", 1, None)


@pytest.mark.parametrize(
    ("state", "hold_usd"),
    [
        (pb.RESERVATION_STATE_QUEUED, 5.97),
        (pb.RESERVATION_STATE_EXPIRING, 5.97),
        (pb.RESERVATION_STATE_EXPIRED, 0),
        (pb.RESERVATION_STATE_CANCELLED, 0),
        (pb.RESERVATION_STATE_FAILED, 0),
    ],
)
async def test_a_reservation_that_is_over_has_nothing_on_hold(
    gateway: RunningGateway, state: pb.ReservationState, hold_usd: float
) -> None:
    gateway.services.reservations.found = reservation(state=state)
    assert (await gateway.http.get(ONE)).json()["hold_usd"] == hold_usd


async def test_names_that_nobody_can_look_up_do_not_hide_a_reservation(gateway: RunningGateway) -> None:
    gateway.refusals["ListNames"] = refusal(grpc.StatusCode.UNAVAILABLE)
    answer = await gateway.http.post(RESERVATIONS, json=BODY)
    assert (answer.status_code, answer.json()["owner"]) == (202, "user_ada")


async def test_five_minutes_as_people_write_them_are_five_minutes(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(f"{RESERVATIONS}/quote", json={"gpu_count": 8, "hours": 0.0833})
    quote = answer.json()
    assert gateway.calls["QuoteReservation"][-1].spec.duration.seconds == 300
    assert (quote["gpu_count"], quote["price_per_gpu_hour"], quote["hold_usd"]) == (8, 1.99, 3.98)
    assert (quote["eta_p50"], quote["eta_p90"]) == (90.0, None)


@pytest.mark.parametrize(
    ("token", "accounts"),
    [(USER_TOKEN, ["acc_team", "acc_user"]), (OPERATOR_TOKEN, []), (ADMIN_TOKEN, [])],
)
async def test_everybody_sees_their_accounts_reservations_and_operators_all(
    gateway: RunningGateway, token: str, accounts: list[str]
) -> None:
    gateway.services.identity.visible[USER_TOKEN] = ["acc_team"]
    query = {"state": ["queued", "active"], "user_id": "user_ada", "page_size": 7, "page_token": "page-1"}
    page = (await gateway.http.get(RESERVATIONS, params=query, headers=headers(token))).json()
    for method, path, body in (
        ("GET", ONE, None),
        ("POST", f"{ONE}/cancel", None),
        ("POST", f"{ONE}/extend", {"hours": 1}),
        ("PATCH", ONE, {"name": "other"}),
        ("POST", f"{ONE}/users", {"remove": ["bob"]}),
    ):
        assert (await gateway.http.request(method, path, json=body, headers=headers(token))).is_success

    calls = gateway.calls
    request = calls["ListReservations"][-1]
    assert (request.page_size, request.page_token, request.user_id) == (7, "page-1", "user_ada")
    assert list(request.states) == [pb.RESERVATION_STATE_QUEUED, pb.RESERVATION_STATE_ACTIVE]
    assert (page["next_page_token"], [one["id"] for one in page["reservations"]]) == ("page-2", ["res_01J"])
    names = ("ListReservations", "GetReservation", "CancelReservation", "ExtendReservation", "UpdateReservation")
    assert [list(calls[name][-1].account_ids) for name in names] == [accounts] * len(names)


async def test_a_reservation_of_another_account_is_not_there(gateway: RunningGateway) -> None:
    for path in (ONE, f"{ONE}/events"):
        answer = await gateway.http.get(path, headers=headers(OTHER_TOKEN))
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no reservation res_01J")


async def test_a_reservation_is_extended_renamed_shared_and_cancelled(gateway: RunningGateway) -> None:
    gateway.services.identity.managed[USER_TOKEN] = ["acc_team"]
    await gateway.http.post(f"{ONE}/extend", json={"hours": 0.5}, headers={"Idempotency-Key": "k2"})
    await gateway.http.patch(ONE, json={"name": "other"})
    keys = [{"user": "bob", "public_key": "ssh-ed25519 BBBB"}]
    await gateway.http.post(f"{ONE}/users", json={"add": keys, "remove": ["eve"]})
    await gateway.http.post(f"{ONE}/notify", json={"text": "Save."})
    cancelled = await gateway.http.post(f"{ONE}/cancel", params={"reason": "not mine to give"})
    operators = headers(OPERATOR_TOKEN)
    await gateway.http.post(f"{ONE}/cancel", params={"reason": "the machine is needed"}, headers=operators)

    calls = gateway.calls
    extension = calls["ExtendReservation"][-1]
    assert (extension.duration.seconds, extension.user_id, extension.idempotency_key) == (1800, "user_user", "k2")
    rename, users = calls["UpdateReservation"]
    assert (rename.name, list(rename.add_keys)) == ("other", [])
    assert [(key.user, key.public_key) for key in users.add_keys] == [("bob", "ssh-ed25519 BBBB")]
    assert list(users.remove_users) == ["eve"]
    assert (cancelled.status_code, cancelled.json()["state"]) == (202, "expiring")
    assert [(call.reason, call.user_id) for call in calls["CancelReservation"]] == [
        ("", "user_user"),
        ("the machine is needed", "user_operator"),
    ]
    assert {rename.user_id, users.user_id} == {"user_user"}
    asked = [extension, rename, users, *calls["NotifyReservation"]]
    assert [list(request.managed_account_ids) for request in asked] == [["acc_team"]] * 4


async def test_an_editor_is_a_user_whose_keys_are_added(gateway: RunningGateway) -> None:
    gateway.services.identity.resolved["bob"] = identity_pb2.ResolveKeysResponse(
        user="bob",
        user_id="user_bob",
        keys=[identity_pb2.ResolvedKey(public_key="ssh-ed25519 BBBB", origin="wavepool")],
    )
    gateway.services.identity.resolved["github:eve"] = identity_pb2.ResolveKeysResponse(
        user="eve@github", keys=[identity_pb2.ResolvedKey(public_key="ssh-ed25519 EEEE", origin="github.com/eve")]
    )
    await gateway.http.post(f"{ONE}/users", json={"add_editors": ["bob"]})
    [request] = gateway.calls["UpdateReservation"]
    assert list(request.add_editors) == [pb.ReservationEditor(user="bob", user_id="user_bob")]
    assert [key.user for key in request.add_keys] == ["bob"]
    refused = await gateway.http.post(f"{ONE}/users", json={"add_editors": ["bob", "github:eve"]})
    assert (refused.status_code, [one["field"] for one in refused.json()["errors"]]) == (422, ["add_editors"])


async def test_a_priority_of_an_administrator_needs_the_scope(gateway: RunningGateway) -> None:
    gateway.services.identity.scopes[ADMIN_TOKEN] = ["read", "submit"]
    for path, body in ((RESERVATIONS, BODY), (f"{RESERVATIONS}/quote", {"hours": 1})):
        answer = await gateway.http.post(path, json=body | {"priority": 5}, headers=headers(ADMIN_TOKEN))
        assert (answer.status_code, "scope `admin`" in answer.text) == (403, True)


async def test_what_an_image_is_built_from_is_stored_though_it_is_large(gateway: RunningGateway) -> None:
    content = bytes(3 << 20)
    answer = await gateway.http.post("/api/v1/build-contexts", json={"content": base64.b64encode(content).decode()})
    assert (answer.status_code, answer.json()) == (200, {"build_digest": f"sha256:{3 << 20}"})
    asked = await gateway.http.post(RESERVATIONS, json=BODY | {"build_digest": "sha256:1", "preserve_entrypoint": True})
    assert asked.status_code == 202
    spec = gateway.calls["CreateReservation"][-1].spec
    assert (spec.build_digest, spec.preserve_entrypoint) == ("sha256:1", True)


async def test_what_an_image_is_built_from_has_a_limit(gateway: RunningGateway) -> None:
    large = await gateway.http.post("/api/v1/build-contexts", content=bytes(13 << 20))
    assert (large.status_code, "8 MiB, compressed" in large.text) == (413, True)


async def test_a_build_and_the_end_of_an_images_command_are_told(gateway: RunningGateway) -> None:
    happened: list[dict[str, Any]] = [
        {"building": session_pb2.SessionBuilding(text="STEP 1/2\nSTEP 2/2")},
        {"command_ended": session_pb2.SessionCommandEnded(exit_status=3)},
    ]
    gateway.services.reservations.events = [
        *(
            pb.ReservationEvent(reservation_id="res_01J", seq=seq, session=session_pb2.SessionEvent(**one))
            for seq, one in enumerate(happened, 1)
        ),
        pb.ReservationEvent(
            reservation_id="res_01J", seq=3, ended=pb.ReservationEnded(state=pb.RESERVATION_STATE_EXPIRED)
        ),
    ]
    frames = [json.loads(frame.data) for frame in await gateway.frames("GET", f"{ONE}/events")]
    assert (frames[0]["status"], frames[0]["text"]) == ("BUILDING", "STEP 1/2\nSTEP 2/2")
    assert (frames[1]["status"], frames[1]["exit_status"]) == ("COMMAND_ENDED", 3)


async def test_events_have_ids_and_names_for_each_step_until_the_end(gateway: RunningGateway) -> None:
    frames = await gateway.frames("GET", f"{ONE}/events")

    shown = [(frame.id, frame.event) for frame in frames]
    assert shown == [
        ("1", "QUEUED"),
        ("2", "PREPARING"),
        ("3", "QUEUED"),
        ("4", "STEP"),
        ("6", "ACTIVE"),
        ("8", "LOGIN"),
        ("9", "LOGOUT"),
        ("10", "OOM"),
        ("11", "WARNING"),
        ("12", "EXTENDED"),
        ("13", "USERS_CHANGED"),
        ("14", "NOTIFIED"),
        ("15", "ENDING"),
        ("16", "EXPIRING"),
        ("17", "EXPIRED"),
    ]
    data = [json.loads(frame.data) for frame in frames]
    assert {one["reservation_id"] for one in data} == {"res_01J"}
    assert [one["status"] for one in data] == [name for _, name in shown]
    assert data[0]["message"] == "Waiting behind (of another account)."
    assert (data[3]["name"], data[3]["seconds"]) == ("sandbox", 0.5)
    assert (data[4]["host_key"], data[4]["expires_at"]) == (HOST_KEY, "2096-10-02T07:06:40Z")
    assert data[8]["minutes_left"] == 30
    assert [(one["user_id"], one["by"]) for one in data[9:13]] == [
        ("user_ada", "ada"),
        ("user_ada", "ada"),
        ("user_op", "user_op"),
        ("user_ada", "ada"),
    ]
    assert (data[10]["users"], data[10]["added"], data[10]["removed"]) == (["ada", "bob"], [f"bob ({FINGERPRINT})"], [])
    assert (data[11]["text"], data[11]["terminals"]) == ("Save.", 2)
    assert data[12]["message"] == "Behind (of another account)."
    assert (data[-1]["message"], data[-1]["cost_usd"], data[-1]["final"]) == ("Time is up.", 3.0, True)


async def test_the_history_says_who_did_what(gateway: RunningGateway) -> None:
    gateway.services.reservations.found.acts.extend(gateway.services.reservations.events)
    history = (await gateway.http.get(ONE)).json()["history"]
    assert {one.pop("at") for one in history} == {"2027-01-15T08:00:00Z"}
    nothing = {"hours": None, "added": [], "removed": [], "editors": [], "text": None}
    assert history == [
        {**nothing, "by": "ada", "what": "extended", "hours": 0.5},
        {**nothing, "by": "ada", "what": "users_changed", "added": [f"bob ({FINGERPRINT})"]},
        {**nothing, "by": "user_op", "what": "notified", "text": "Save."},
        {**nothing, "by": "ada", "what": "ending", "text": "Behind (of another account)."},
    ]


async def test_events_resume_after_the_last_one_that_was_seen(gateway: RunningGateway) -> None:
    whole = await gateway.frames("GET", f"{ONE}/events")
    resumed = await gateway.frames("GET", f"{ONE}/events", headers={"Last-Event-ID": "15"})
    assert [frame.data for frame in resumed] == [frame.data for frame in whole[-2:]]

    gateway.services.reservations.found = reservation(state=pb.RESERVATION_STATE_EXPIRED, last_seq=17)
    assert (await gateway.http.get(f"{ONE}/events", params={"after": "17"})).status_code == 204


async def test_availability_says_what_is_free_and_the_wait_for_each_size(gateway: RunningGateway) -> None:
    (one,) = (await gateway.http.get("/api/v1/availability", params={"gpu_type": "mi300x"})).json()["gpu_types"]
    assert gateway.calls["GetAvailability"][-1].gpu_type == "mi300x"
    waits = one.pop("waits")
    assert one == {
        "gpu_type": "MI300X",
        "total_gpus": 16,
        "free_gpus": 5,
        "largest_free": 4,
        "startable_gpus": 2,
        "reserved_gpus": 8,
        "queue_length": 3,
        "price_per_gpu_hour": 1.99,
        "next_dated_time": "2096-10-02T07:06:40Z",
        "next_dated_gpus": 4,
        "maintenance": "new firmware until 15:00",
        "queue_head": {
            "gpu_count": 1,
            "gpu_fraction": 0.5,
            "create_time": "2096-10-02T07:06:40Z",
            "reason": "It needs half a GPU.",
        },
    }
    assert waits == [
        {"gpu_count": 1, "eta_p50": 0.0, "eta_p90": 5.0},
        {"gpu_count": 8, "eta_p50": None, "eta_p90": None},
    ]


async def test_the_use_has_gpu_hours_by_day_and_user(gateway: RunningGateway) -> None:
    answer = await gateway.http.get("/api/v1/reservations/usage", params={"days": 7})
    assert answer.json()["usage"] == [
        {
            "day": "2026-11-26",
            "account_id": "acct_1",
            "user_id": "user_9",
            "user": "user_9",
            "gpu_type": "MI300X",
            "gpu_hours": 1.5,
            "reservations": 2,
        }
    ]
    asked = gateway.calls["GetReservationUsage"][-1]
    assert (asked.end_time.ToDatetime() - asked.begin_time.ToDatetime()).days == 7


async def test_a_text_goes_to_the_terminals_of_a_session(gateway: RunningGateway) -> None:
    answer = await gateway.http.post("/api/v1/reservations/res_1/notify", json={"text": "Maintenance at noon."})
    assert answer.json() == {"terminals": 2}
    asked = gateway.calls["NotifyReservation"][-1]
    assert (asked.text, asked.user_id) == ("Maintenance at noon.", "user_user")


async def test_a_later_start_goes_on_as_an_instant_with_its_zone(gateway: RunningGateway) -> None:
    wanted = {"hours": 1, "start_time": "2096-10-02T09:06:40+02:00"}
    quoted = (await gateway.http.post("/api/v1/reservations/quote", json=wanted)).json()
    assert quoted["start_time"] == "2096-10-02T07:06:40Z"
    assert gateway.calls["QuoteReservation"][-1].spec.start_time.ToDatetime(UTC) == EXPIRES_AT


async def test_the_calendar_has_no_names_of_other_accounts(gateway: RunningGateway) -> None:
    own, other = (await gateway.http.get("/api/v1/reservations/calendar", params={"gpu_type": "mi300x"})).json()[
        "entries"
    ]
    assert gateway.calls["GetCalendar"][-1].gpu_type == "mi300x"
    assert (own["reservation_id"], own["name"], own["owner"], own["machine_id"]) == (
        "res_01J",
        "training",
        "ada",
        "m_1",
    )
    assert own["more_machine_ids"] == ["m_2"]
    assert other == {
        "gpu_type": "MI300X",
        "gpu_count": 4,
        "start_time": "2096-10-02T07:06:40Z",
        "end_time": "2096-10-02T08:06:40Z",
        "state": "pending",
        "machine_id": None,
        "more_machine_ids": [],
        "late": True,
        "reservation_id": None,
        "name": None,
        "owner": None,
    }
