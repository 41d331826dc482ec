"""Disks over HTTP, on a scripted scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, USER_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

USER = {"Authorization": f"Bearer {USER_TOKEN}"}
ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
DISKS = "/api/v1/disks"
SNAPSHOT = {
    "id": "s-1",
    "time": "2027-01-15T08:10:00Z",
    "size_bytes": 6,
    "files": 2,
    "reason": "end",
    "seconds": 2.0,
}
CALLS = [
    ("GET", "", "ListDisks", None),
    ("DELETE", "/work", "DeleteDisk", None),
    ("PATCH", "/work", "RenameDisk", {"name": "other"}),
    ("POST", "/work/clone", "CloneDisk", {"name": "other"}),
    ("GET", "/work/content", "GetDiskContent", None),
    ("POST", "/work/snapshot", "SnapshotDisk", None),
]


async def test_a_disk_is_shown_with_its_snapshots(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(DISKS, json={"name": "work", "size_gib": 0.5}, headers=USER)
    assert answer.status_code == 201
    assert answer.json() == {
        "id": "dsk_01J",
        "name": "work",
        "owner": "ada",
        "owner_id": "user_ada",
        "state": "in_use",
        "size_limit_bytes": 1 << 30,
        "size_bytes": 6,
        "create_time": "2027-01-15T08:00:00Z",
        "last_used_time": None,
        "safe_time": "2027-01-15T08:10:00Z",
        "reservation_id": "res_01J",
        "delete_time": None,
        "remove_time": None,
        "snapshots": [SNAPSHOT],
    }
    request = gateway.calls["CreateDisk"][-1]
    assert (request.name, request.size_limit_bytes) == ("work", 1 << 29)


@pytest.mark.parametrize(("method", "path", "call", "body"), CALLS)
async def test_disks_are_the_callers_own_unless_an_operator_names_another_user(
    gateway: RunningGateway, method: str, path: str, call: str, body: Any
) -> None:
    own = await gateway.http.request(method, f"{DISKS}{path}", json=body, headers=USER)
    assert own.is_success, own.text
    request = gateway.calls[call][-1]
    assert request.user_id == "user_user"
    refused = await gateway.http.request(method, f"{DISKS}{path}?user_id=user_bob", json=body, headers=USER)
    assert refused.status_code == 403
    others = await gateway.http.request(method, f"{DISKS}{path}?user_id=user_bob", json=body, headers=ADMIN)
    assert others.is_success
    # Of a name, too: billing knows whose it is (here always user_user).
    assert gateway.calls["GetUser"][-1].user == "user_bob"
    assert gateway.calls[call][-1].user_id == "user_user"


async def test_operators_alone_see_everybodys_disks(gateway: RunningGateway) -> None:
    assert (await gateway.http.get(f"{DISKS}?user_id=all", headers=USER)).status_code == 403
    assert (await gateway.http.get(f"{DISKS}?user_id=all&deleted=true", headers=ADMIN)).is_success
    request = gateway.calls["ListDisks"][-1]
    assert (request.user_id, request.with_deleted) == ("", True)


async def test_the_files_of_a_disk_are_listed(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(f"{DISKS}/work/content", headers=USER)).json()
    assert [(one["path"], one["size_bytes"]) for one in found["files"]] == [("src/", 0), ("src/a", 6)]
    assert (found["is_cut"], found["snapshot"]) == (True, SNAPSHOT)


async def test_a_snapshot_that_was_asked_for_is_described(gateway: RunningGateway) -> None:
    taken = (await gateway.http.post(f"{DISKS}/work/snapshot", headers=USER)).json()
    assert taken == {**SNAPSHOT, "is_unchanged": True, "skipped": 2}


async def test_a_reservation_names_its_disk(gateway: RunningGateway) -> None:
    body = {"hours": 1, "disk": "work", "keys": [{"public_key": "ssh-ed25519 AAAA"}]}
    assert (await gateway.http.post("/api/v1/reservations", json=body, headers=USER)).status_code == 202
    assert gateway.calls["CreateReservation"][-1].spec.disk == "work"
