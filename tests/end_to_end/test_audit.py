"""Who did what, and who tried to: written by the service that did it, read in one list."""

from __future__ import annotations

import httpx

from tests.cli.invocation import wavepool as command
from tests.end_to_end.wavepool_processes import Wavepool


def test_an_administrators_act_and_a_users_attempt_are_in_the_audit_log(wavepool: Wavepool) -> None:
    made = wavepool.http.post("/api/v1/users", json={"name": "auditee"})
    assert made.is_success, made.text
    token = wavepool.http.post("/api/v1/tokens", json={"name": "mine", "user_id": "auditee"}).json()["token"]
    wavepool.http.patch("/api/v1/users/auditee", json={"role": "operator"}).raise_for_status()
    wavepool.http.put("/api/v1/gpu-types/MI300X/maintenance", json={"reason": "new firmware"}).raise_for_status()
    wavepool.http.delete("/api/v1/gpu-types/MI300X/maintenance").raise_for_status()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=wavepool.endpoint, headers=headers, trust_env=False) as auditee:
        assert auditee.post("/api/v1/users", json={"name": "other"}).status_code == 403
    acts = wavepool.http.get("/api/v1/audit", params={"page_size": 50}).json()["acts"]
    assert token not in str(acts)
    newest = {(act["user"], act["kind"], act["outcome"]): act for act in reversed(acts)}
    me = acts[1]["user"]
    assert newest["auditee", "create_user", "PERMISSION_DENIED"]["address"] == "127.0.0.1"
    role = newest[me, "update_user", "OK"]
    assert (role["service"], role["before"]["role"], role["after"]["user"]["role"]) == (
        "billing",
        "user",
        "ROLE_OPERATOR",
    )
    ended = newest[me, "set_maintenance", "OK"]
    assert (ended["service"], ended["before"]["reason"]) == ("scheduler", "new firmware")
    shown = command(
        *("audit", "--user", "auditee", "--endpoint", wavepool.endpoint),
        environment={"WAVEPOOL_TOKEN": (wavepool.data_dir / "token").read_text().strip()},
    )
    assert (shown.status, "create_user" in shown.out, "PERMISSION_DENIED" in shown.out) == (0, True, True), shown.err
