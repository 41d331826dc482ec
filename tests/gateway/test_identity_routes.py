"""Users, teams, accounts and tokens over HTTP, on scripted services."""

from __future__ import annotations

from datetime import UTC, datetime

import grpc
import pytest
from wavepool.billing.v1 import identity_pb2
from wavepool.scheduler.v1.scheduler_pb2 import VISIBILITY_PUBLIC
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK

from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, OPERATOR_TOKEN, USER_TOKEN
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
OPERATOR = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
LATER = "2100-01-01T00:00:00Z"


async def test_a_token_is_made_with_all_its_limits_and_its_secret_is_shown_once(gateway: RunningGateway) -> None:
    body = {"name": "ci", "account_id": "compilers", "scopes": ["read", "submit"], "expire_time": LATER}
    made = await gateway.http.post("/api/v1/tokens", json=body)
    assert (made.status_code, made.json()["token"], made.json()["id"]) == (201, "wp_secret_tok_1", "tok_9")
    request = gateway.calls["CreateToken"][-1]
    assert (request.caller_token_id, request.account, list(request.scopes)) == (
        "tok_1",
        "compilers",
        ["read", "submit"],
    )
    assert request.expire_time.ToDatetime(tzinfo=UTC) == datetime(2100, 1, 1, tzinfo=UTC)
    listed = (await gateway.http.get("/api/v1/tokens")).json()["tokens"]
    assert [(token["id"], token["prefix"]) for token in listed] == [("tok_9", "wp_us")]
    assert "wp_secret" not in str(listed)


async def test_a_lifetime_is_counted_from_now(gateway: RunningGateway) -> None:
    before = datetime.now(UTC)
    await gateway.http.post("/api/v1/tokens", json={"name": "short", "lifetime_seconds": 60})
    end = gateway.calls["CreateToken"][-1].expire_time.ToDatetime(tzinfo=UTC)
    assert 55 <= (end - before).total_seconds() <= 90


async def test_administrators_add_users_with_credit_in_dollars(gateway: RunningGateway) -> None:
    body = {"name": "ada", "role": "operator", "email": "ada@example.org", "grant_usd": 5.25}
    made = await gateway.http.post("/api/v1/users", json=body, headers=ADMIN)
    assert (made.status_code, made.json()["id"], made.json()["role"]) == (201, "user_user", "user")
    request = gateway.calls["CreateUser"][-1]
    assert (request.role, request.grant_micros) == (identity_pb2.ROLE_OPERATOR, 5_250_000)
    opened = await gateway.http.post("/api/v1/accounts", json={"name": "bob", "grant_usd": 5}, headers=ADMIN)
    assert (opened.status_code, opened.json()["available_usd"], opened.json()["owner"]) == (201, 1000.0, "user")
    request = gateway.calls["CreateUser"][-1]
    assert (request.name, request.role, request.grant_micros) == ("bob", identity_pb2.ROLE_UNSPECIFIED, 5_000_000)


async def test_a_change_of_a_user_has_only_what_was_given(gateway: RunningGateway) -> None:
    await gateway.http.patch("/api/v1/users/ada", json={"disabled": True}, headers=ADMIN)
    request = gateway.calls["UpdateUser"][-1]
    assert (request.user, request.disabled, request.role) == ("ada", True, identity_pb2.ROLE_UNSPECIFIED)
    assert not request.HasField("email")
    await gateway.http.patch("/api/v1/users/ada", json={"role": "admin", "email": ""}, headers=ADMIN)
    request = gateway.calls["UpdateUser"][-1]
    assert not request.HasField("github_name")
    assert (request.role, request.HasField("email")) == (identity_pb2.ROLE_ADMIN, True)
    assert not request.HasField("disabled")


async def test_teams_have_members_with_levels(gateway: RunningGateway) -> None:
    made = await gateway.http.post("/api/v1/teams", json={"name": "compilers", "grant_usd": 50}, headers=ADMIN)
    assert (made.status_code, made.json()["account_id"]) == (201, "acc_team")
    team = (await gateway.http.get("/api/v1/teams/compilers")).json()
    assert team["members"] == [{"user_id": "user_user", "user_name": "ada", "level": "manager", "from_sign_in": True}]
    assert [one["name"] for one in (await gateway.http.get("/api/v1/teams")).json()["teams"]] == ["compilers"]
    added = await gateway.http.put("/api/v1/teams/compilers/members/bob", json={"level": "manager"})
    removed = await gateway.http.delete("/api/v1/teams/compilers/members/bob")
    assert (added.status_code, removed.status_code) == (200, 200)
    request = gateway.calls["AddTeamMember"][-1]
    assert (request.team, request.user, request.level) == ("compilers", "bob", identity_pb2.MEMBER_LEVEL_MANAGER)
    assert gateway.calls["RemoveTeamMember"][-1].user == "bob"


async def test_operators_look_after_machines_and_see_users_but_change_none(gateway: RunningGateway) -> None:
    assert (await gateway.http.post("/api/v1/machines/m_1/drain", headers=OPERATOR)).status_code == 200
    assert (await gateway.http.get("/api/v1/users", headers=OPERATOR)).status_code == 200
    refused = await gateway.http.post("/api/v1/users", json={"name": "eve"}, headers=OPERATOR)
    assert refused.status_code == 403
    assert "administrator" in refused.json()["detail"]
    assert "CreateUser" not in gateway.calls


async def test_keys_are_added_listed_and_removed_by_their_fingerprint(gateway: RunningGateway) -> None:
    body = {"public_key": "ssh-ed25519 AAAA ada", "name": "laptop"}
    made = await gateway.http.post("/api/v1/keys", json=body, params={"user": "bob"})
    listed = await gateway.http.get("/api/v1/keys")
    removed = await gateway.http.delete("/api/v1/keys/SHA256:ab%2Fcd+ef")
    assert (made.status_code, made.json()) == (201, listed.json()["keys"][0])
    assert made.json()["fingerprint"] == "SHA256:ab/cd+ef"
    assert removed.status_code == 204
    calls = gateway.calls
    request = calls["AddKey"][-1]
    assert (request.caller_token_id, request.user, request.public_key, request.name) == (
        "tok_1",
        "bob",
        "ssh-ed25519 AAAA ada",
        "laptop",
    )
    assert calls["RemoveKey"][-1].key == "SHA256:ab/cd+ef"


async def test_a_name_on_github_is_claimed_with_a_signature(gateway: RunningGateway) -> None:
    begun = await gateway.http.post("/api/v1/keys/claims", json={"github_name": "Alice"})
    assert (begun.status_code, begun.json()["challenge"], begun.json()["fingerprints"]) == (
        201,
        "sign this",
        ["SHA256:ab"],
    )
    signed = {"github_name": "Alice", "challenge": "sign this", "signature": "-----BEGIN"}
    claimed = await gateway.http.put("/api/v1/keys/claims", json=signed)
    assert (claimed.status_code, claimed.json()) == (200, {"github_name": "alice"})
    request = gateway.calls["FinishGithubClaim"][-1]
    assert (request.caller_token_id, request.github_name, request.challenge, request.signature) == (
        "tok_1",
        "Alice",
        "sign this",
        "-----BEGIN",
    )


async def test_a_user_sees_and_chooses_when_to_be_mailed(gateway: RunningGateway) -> None:
    shown = await gateway.http.get("/api/v1/me/notices", params={"user": "bob"})
    body = {"notify": "failed", "email": "ada@example.org", "available": True}
    assert (shown.status_code, shown.json()) == (200, body)
    assert (gateway.calls["GetNotices"][-1].caller_token_id, gateway.calls["GetNotices"][-1].user) == ("tok_1", "bob")
    changed = await gateway.http.patch("/api/v1/me/notices", json={"notify": "always"})
    assert (changed.status_code, changed.json()) == (200, body)
    request = gateway.calls["SetNotices"][-1]
    assert (request.caller_token_id, request.user, request.notify) == ("tok_1", "", identity_pb2.NOTIFY_ALWAYS)
    wrong = await gateway.http.patch("/api/v1/me/notices", json={"notify": "sometimes"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "notify")


async def test_a_profile_has_what_its_user_solved_and_nothing_private(gateway: RunningGateway) -> None:
    spec = job_spec(problem="relu", mode=RUN_MODE_CHECK, dtype="float32", gpu_type="MI300X", name="v3", queue="red")
    for job_id in ("job_1", "job_2"):
        gateway.services.scheduler.put_job(spec, "acc_ada", job_id)
    public = gateway.services.scheduler.jobs["job_2"]
    public.visibility, public.machine_gpu_type, public.hardware = VISIBILITY_PUBLIC, "MI300X", "cpu"
    shown = await gateway.http.get("/api/v1/users/ada/profile")
    assert shown.json() == {
        "name": "ada",
        "solved": [
            {"difficulty": "EASY", "solved": 2, "problems": 30},
            {"difficulty": "HARD", "solved": 0, "problems": 9},
        ],
        "days": [{"date": "2026-11-29", "submissions": 4}],
        "public_submissions": [
            {
                "id": "job_2",
                "name": "v3",
                "problem": "relu",
                "mode": "check",
                "gpu_type": "cpu",
                "dtype": "float32",
                "state": "QUEUED",
                "status": None,
                "timing_status": None,
                "shown_interval": None,
                "runtime_interval": None,
                "runtime_ms": None,
                "create_time": "2027-01-15T08:00:00Z",
            }
        ],
    }
    listed = gateway.calls["ListJobs"][-1]
    assert (listed.user_id, listed.visibility, listed.account_id, listed.page_size) == (
        "user_ada",
        VISIBILITY_PUBLIC,
        "",
        50,
    )
    assert (gateway.calls["GetProfile"][-1].caller_token_id, gateway.calls["GetProfile"][-1].name) == ("tok_1", "ada")
    assert gateway.calls["GetUserProgress"][-1].user_id == "user_ada"


async def test_a_profile_that_is_off_is_not_found_and_nothing_is_asked_about_it(gateway: RunningGateway) -> None:
    gateway.refusals["GetProfile"] = refusal(grpc.StatusCode.NOT_FOUND, "There is no user 'ada'.")
    hidden = await gateway.http.get("/api/v1/users/ada/profile")
    assert (hidden.status_code, hidden.json()["detail"]) == (404, "There is no user 'ada'.")
    assert not {"GetUserProgress", "ListJobs"} & set(gateway.calls)


async def test_a_user_sees_and_chooses_who_sees_their_profile(gateway: RunningGateway) -> None:
    assert (await gateway.http.get("/api/v1/me/profile")).json() == {"profile": "off"}
    assert not gateway.calls["GetProfile"][-1].name
    changed = await gateway.http.patch("/api/v1/me/profile", json={"profile": "off"})
    assert changed.json() == {"profile": "off"}
    assert gateway.calls["SetProfile"][-1].visibility == identity_pb2.PROFILE_VISIBILITY_OFF
    wrong = await gateway.http.patch("/api/v1/me/profile", json={"profile": "friends"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "profile")


async def test_a_choice_that_billing_refuses_says_what_to_do(gateway: RunningGateway) -> None:
    gateway.refusals["SetNotices"] = refusal(grpc.StatusCode.FAILED_PRECONDITION, "ask an administrator")
    refused = await gateway.http.patch("/api/v1/me/notices", json={"notify": "always"})
    assert (refused.status_code, refused.json()["detail"]) == (409, "ask an administrator")


NEEDS = [
    ("read", "GET", "/api/v1/submissions"),
    ("submit", "PATCH", "/api/v1/submissions/job_1"),
    ("read", "GET", "/api/v1/rankings"),
    ("read", "GET", "/api/v1/rankings/history"),
    ("read", "GET", "/api/v1/comparisons"),
    ("read", "GET", "/api/v1/queues"),
    ("operate` or `admin", "POST", "/api/v1/queues/apply"),
    ("operate` or `admin", "POST", "/api/v1/queues/red/close"),
    ("operate` or `admin", "PUT", "/api/v1/gpu-types/MI300X/maintenance"),
    ("operate` or `admin", "DELETE", "/api/v1/gpu-types/MI300X/maintenance"),
    ("operate` or `admin", "POST", "/api/v1/queues/red/open"),
    ("operate` or `admin", "DELETE", "/api/v1/queues/red"),
    ("submit", "POST", "/api/v1/reservations"),
    ("submit", "POST", "/api/v1/reservations/quote"),
    ("submit", "POST", "/api/v1/submissions/quote"),
    ("submit", "POST", "/api/v1/build-contexts"),
    ("read", "GET", "/api/v1/reservations"),
    ("read", "GET", "/api/v1/reservations/usage"),
    ("read", "GET", "/api/v1/reservations/calendar"),
    ("read", "GET", "/api/v1/reservations/res_1"),
    ("submit", "PATCH", "/api/v1/reservations/res_1"),
    ("read", "GET", "/api/v1/reservations/res_1/events"),
    ("submit", "POST", "/api/v1/reservations/res_1/cancel"),
    ("submit", "POST", "/api/v1/reservations/res_1/extend"),
    ("submit", "POST", "/api/v1/reservations/res_1/users"),
    ("submit", "POST", "/api/v1/reservations/res_1/notify"),
    ("submit", "GET", "/api/v1/reservations/res_1/tunnel"),
    ("read", "GET", "/api/v1/availability"),
    ("submit", "POST", "/api/v1/disks"),
    ("read", "GET", "/api/v1/disks"),
    ("submit", "DELETE", "/api/v1/disks/red"),
    ("submit", "PATCH", "/api/v1/disks/red"),
    ("submit", "POST", "/api/v1/disks/red/clone"),
    ("read", "GET", "/api/v1/disks/red/content"),
    ("submit", "POST", "/api/v1/disks/red/snapshot"),
    ("read", "GET", "/api/v1/submissions/job_1/why"),
    ("read", "GET", "/api/v1/submissions/job_1"),
    ("read", "GET", "/api/v1/submissions/job_1/events"),
    ("read", "GET", "/api/v1/events?topic=submissions"),
    ("read", "GET", "/api/v1/submissions/job_1/isa"),
    ("read", "GET", "/api/v1/submissions/job_1/samples"),
    ("read", "GET", "/api/v1/submissions/job_1/report"),
    ("submit", "POST", "/api/v1/submissions"),
    ("submit", "POST", "/api/v1/submissions/job_1/cancel"),
    ("submit", "POST", "/api/amd/submit"),
    ("submit", "POST", "/api/submissions/direct-submit"),
    ("submit", "POST", "/api/submissions/checker"),
    ("submit", "POST", "/api/submissions/benchmark"),
    ("submit", "POST", "/api/submissions/sample"),
    ("submit", "POST", "/api/submissions/sandbox"),
    ("submit", "POST", "/api/submissions/cancel"),
    ("read", "GET", "/api/v1/problems"),
    ("read", "GET", "/api/v1/problems/vector-addition"),
    ("read", "GET", "/api/v1/gpu-types"),
    ("read", "GET", "/api/v1/machines"),
    ("read", "GET", "/api/v1/machines/m_1"),
    ("read", "GET", "/api/v1/machines/m_1/events"),
    ("operate", "POST", "/api/v1/machines"),
    ("operate", "POST", "/api/v1/machines/m_1/drain"),
    ("operate", "POST", "/api/v1/machines/m_1/stop"),
    ("operate", "GET", "/api/v1/machines/m_1/logs"),
    ("operate", "GET", "/api/v1/providers/diagnosis"),
    ("operate", "POST", "/api/v1/providers/resume"),
    ("read", "GET", "/api/v1/offers"),
    ("read", "GET", "/api/v1/costs"),
    ("read", "GET", "/api/v1/limits"),
    ("read", "GET", "/api/v1/metrics"),
    ("read", "GET", "/api/amd/metrics"),
    ("read", "GET", "/api/v1/metrics/jobs"),
    ("read", "GET", "/api/v1/metrics/queues"),
    ("manage", "POST", "/api/v1/tokens"),
    ("manage", "GET", "/api/v1/tokens"),
    ("manage", "POST", "/api/v1/keys"),
    ("read", "GET", "/api/v1/keys"),
    ("manage", "DELETE", "/api/v1/keys/SHA256:ab/cd"),
    ("manage", "POST", "/api/v1/keys/claims"),
    ("manage", "PUT", "/api/v1/keys/claims"),
    ("read", "GET", "/api/v1/me/notices"),
    ("manage", "PATCH", "/api/v1/me/notices"),
    ("read", "GET", "/api/v1/me/profile"),
    ("manage", "PATCH", "/api/v1/me/profile"),
    ("read", "GET", "/api/v1/users/ada/profile"),
    ("read", "GET", "/api/v1/accounts"),
    ("read", "GET", "/api/v1/accounts/ada"),
    ("admin", "POST", "/api/v1/accounts"),
    ("admin", "GET", "/api/v1/audit"),
    ("operate` or `admin", "GET", "/api/v1/users"),
    ("read", "GET", "/api/v1/users/ada"),
    ("admin", "POST", "/api/v1/users"),
    ("admin", "PATCH", "/api/v1/users/ada"),
    ("read", "GET", "/api/v1/teams"),
    ("read", "GET", "/api/v1/teams/compilers"),
    ("admin", "POST", "/api/v1/teams"),
    ("read", "GET", "/api/v1/alerts"),
    ("read", "GET", "/api/v1/alerts/history"),
    ("read", "GET", "/api/v1/alerts/rules"),
    ("admin", "POST", "/api/v1/alerts/test"),
    ("read", "GET", "/api/v1/prices"),
    ("read", "GET", "/api/v1/prices/history"),
    ("admin", "POST", "/api/v1/prices"),
    ("read", "GET", "/api/v1/quote"),
    ("read", "GET", "/api/v1/billing/projections"),
    ("read", "GET", "/api/v1/billing/statement"),
    ("read", "GET", "/api/v1/billing/grants"),
    ("operate` or `admin", "GET", "/api/v1/billing/report"),
    ("operate` or `admin", "GET", "/api/v1/billing/verify"),
    ("operate` or `admin", "GET", "/api/v1/billing/budgets"),
    ("admin", "POST", "/api/v1/billing/grants"),
    ("admin", "POST", "/api/v1/billing/revocations"),
    ("admin", "POST", "/api/v1/billing/refunds"),
    ("admin", "PUT", "/api/v1/billing/budgets"),
    ("admin", "DELETE", "/api/v1/billing/budgets/budget_1"),
    ("manage", "PUT", "/api/v1/teams/compilers/members/bob"),
    ("manage", "DELETE", "/api/v1/teams/compilers/members/bob"),
]
NEEDS_NONE = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    # Whoever holds a token may learn what it is, and end it.
    ("GET", "/api/v1/me"),
    ("POST", "/api/v1/tickets"),
    ("GET", "/api/v1/sign-in"),
    ("POST", "/api/v1/sign-in"),
    ("DELETE", "/api/v1/tokens/{token_id}"),
}
BODIES = {
    "/api/v1/build-contexts": {"content": ""},
    "/api/v1/submissions": {"problem": "vector-addition", "code": "x"},
    "/api/v1/submissions/quote": {"problem": "vector-addition", "code": "x"},
    "/api/amd/submit": {"problem": "vector-addition", "solution_code": "x"},
    "/api/submissions/cancel": {"submissionId": "job_1"},
    "/api/submissions/sandbox": {"code": "x"},
    "/api/v1/machines": {},
    "/api/v1/reservations": {"hours": 1, "keys": [{"public_key": "ssh-ed25519 AAAA"}]},
    "/api/v1/reservations/quote": {"hours": 1},
    "/api/v1/reservations/res_1/extend": {"hours": 1},
    "/api/v1/reservations/res_1/users": {},
    "/api/v1/reservations/res_1/notify": {"text": "hello"},
    "/api/v1/keys": {"public_key": "ssh-ed25519 AAAA"},
    "POST /api/v1/keys/claims": {"github_name": "alice"},
    "PUT /api/v1/keys/claims": {"github_name": "alice", "challenge": "x", "signature": "x"},
    "/api/v1/users/ada": {},
    "/api/v1/me/notices": {"notify": "always"},
    "/api/v1/me/profile": {"profile": "off"},
    "/api/v1/alerts/test": {},
    "PUT /api/v1/gpu-types/MI300X/maintenance": {"reason": "x"},
    "/api/v1/billing/grants": {"account_id": "a", "amount_usd": 1},
    "/api/v1/billing/revocations": {"account_id": "a", "amount_usd": 1},
    "/api/v1/billing/refunds": {"hold_id": "h", "amount_usd": 1},
    "/api/v1/billing/budgets": {"scope": "USER", "subject": "a", "period": "DAY", "limit_usd": 1},
    "/api/v1/teams/compilers/members/bob": {},
}


@pytest.mark.parametrize(("scope", "method", "path"), NEEDS)
async def test_every_route_refuses_a_token_without_its_scope_and_names_it(
    gateway: RunningGateway, scope: str, method: str, path: str
) -> None:
    others = [one for one in ("read", "submit", "manage", "operate", "admin") if one not in scope]
    gateway.services.identity.scopes[ADMIN_TOKEN] = others
    body = None
    if method in {"POST", "PUT", "PATCH"} and not path.endswith(("drain", "stop", "resume", "_1/cancel")):
        seed = (
            {"problemSlug": "vector-addition", "code": "x"} if path.startswith("/api/submissions/") else {"name": "x"}
        )
        body = BODIES.get(f"{method} {path}", BODIES.get(path, seed))
    answer = await gateway.http.request(method, path, json=body, headers=ADMIN)
    assert answer.status_code == 403, answer.text
    assert f"scope `{scope}`" in answer.text
    # Refused acts of operators are written down (tests/gateway/test_audit_routes.py).
    assert set(gateway.calls) - {"RecordRefusal"} == {"AuthenticateToken"}


async def test_the_document_has_the_scopes_of_every_route(gateway: RunningGateway) -> None:
    documented = {
        (method.upper(), path): " or ".join(f"`{scope}`" for scope in operation["x-scope"])
        for path, operations in gateway.app.openapi()["paths"].items()
        for method, operation in operations.items()
    }
    ids = {
        "job_1": "{submission_id}",
        "vector-addition": "{slug}",
        "m_1": "{machine_id}",
        "res_1": "{reservation_id}",
        "budget_1": "{budget_id}",
        "MI300X": "{gpu_type}",
        "red": "{name}",
        "bob": "{user}",
    }

    def generic(path: str) -> str:
        words = path.partition("?")[0].replace("SHA256:ab/cd", "{key}").split("/")
        kind = {"accounts": "{account}", "users": "{user}", "teams": "{team}"}
        return "/".join(
            kind[words[place - 1]] if place and words[place - 1] in kind else ids.get(word, word)
            for place, word in enumerate(words)
        )

    needs = {(method, generic(path)): f"`{scope}`" for scope, method, path in NEEDS}
    assert needs | dict.fromkeys(NEEDS_NONE, "") == documented


async def test_a_narrow_token_of_an_administrator_gives_no_priority(gateway: RunningGateway) -> None:
    gateway.services.identity.scopes[ADMIN_TOKEN] = ["read", "submit"]
    body = {"problem": "vector-addition", "code": "x", "priority": 5}
    refused = await gateway.http.post("/api/v1/submissions", json=body, headers=ADMIN)
    assert (refused.status_code, "scope `admin`" in refused.text) == (403, True)
    assert (await gateway.http.post("/api/v1/submissions", json=body | {"priority": 0}, headers=ADMIN)).is_success


async def test_a_submission_carries_its_user_and_the_account_that_the_token_charges(gateway: RunningGateway) -> None:
    await gateway.http.post("/api/v1/submissions", json={"problem": "vector-addition", "code": "x"})
    request = gateway.calls["SubmitJob"][-1]
    assert (request.account_id, request.user_id) == ("acc_user", "user_user")
    assert USER_TOKEN not in str(request)
