"""A field that has not its form is named, with the fix, before any service hears of the request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN
from tests.gateway.test_queue_routes import KAIWO

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
LATER = "2100-01-01T00:00:00Z"
FORM_OF_A_TIME = "2026-11-01T12:00:00Z"
PRICE = {"gpu_type": "mi300x", "price_usd_per_hour": 2.29}
CODE = {"code": "c", "code_verifier": "v", "redirect_uri": "https://w.example/", "nonce": "n"}
Faults = list[tuple[Any, ...]]


def wrong(
    path: str, sound: dict[str, Any], *faults: tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], str]
) -> Faults:
    """Bodies for one route; a fault has the field that is named, what it changes, and words of the message."""
    return [(f"/api/v1/{path}", {**sound, **change}, field, *(words or [""])) for field, change, *words in faults]


SUBMISSIONS = wrong(
    "submissions",
    {"problem": "vector-addition", "code": "int x;", "mode": "check"},
    ("code", {"code": ""}, "required"),
    ("code", {"code": None}, "must be a string"),
    ("code", {"code": 12}, "must be a string"),
    ("code", {"code": "\ud800"}, "unicode"),
    ("code", {"code": "x" * (1024 * 1024 + 1)}, "1048576"),
    ("problem", {"problem": ""}, "required"),
    ("gpu_type", {"gpu_type": "\ud800"}, "unicode"),
    ("fallback_gpu_types", {"fallback_gpu_types": "MI210"}, "must be a JSON array"),
    ("fallback_gpu_types.1", {"fallback_gpu_types": ["MI210", 7]}, "string"),
    ("fallback_gpu_types", {"fallback_gpu_types": ["MI210"] * 9}, "8"),
    ("mode", {"mode": "chek"}, "must be one of 'check', 'benchmark', 'full', 'sample' or 'sandbox'"),
    ("priority", {"priority": 101}, "must be less than or equal to 100"),
    *(("priority", {"priority": no}, "must be a whole number") for no in ("7", True, 7.0, None, 1e30)),
    ("cdoe", {"cdoe": "x"}, "is not a field of this request; remove it, or correct its name"),
    ("launch_plan", {"launch_plan": "text"}, "must be a JSON object"),
    ("launch_plan", {"launch_plan": [1]}, "must be a JSON object"),
    ("launch_plan", {"launch_plan": {"launches": "x" * 70_000}}),
    ("problem_def", {"problem_def": 3}),
    ("problem_def", {"problem_def": "x" * (256 * 1024 + 1)}),
    ("timing", {"mode": "full", "timing": "first_call"}, "must be one of cold, hot, first-call; it is 'first_call'"),
    ("timing", {"mode": "full", "timing": "COLD"}, "the nearest is cold"),
    ("timing", {"mode": "full", "timing": "hott"}, "the nearest is hot"),
    ("timing", {"mode": "full", "timing": "\ud800"}, "must be one of cold, hot, first-call"),
    ("timing", {"mode": "full", "timing": 3}, "must be one of cold, hot, first-call; it is '3'"),
    *(("deadline", {"deadline": no}, FORM_OF_A_TIME) for no in (7200, "7200", "2h", "2126-11-01", "", True)),
    ("deadline", {"deadline": "2126-11-01T13:00:00"}, FORM_OF_A_TIME),
    ("machine.wait_for_operator", {"machine": {"wait_for_operator": "yes"}}),
    ("machine.idle_seconds", {"machine": {"idle_seconds": -1}}),
    ("machine.idle_seconds", {"machine": {"idle_seconds": 604_801}}),
    ("machine.idle_seconds", {"machine": {"idle_seconds": 1.5}}),
    ("machine.reuse", {"machine": {"reuse": "new"}}),
    ("machine.colour", {"machine": {"colour": "red"}}),
    ("machine", {"machine": "create"}),
    ("profile", {"profile": 1}, "true or false"),
    ("resources.gpu", {"resources": {"gpu": 2}}, "remove it"),
    ("resources.gpus", {"resources": {"gpus": "two"}}, "whole number"),
    ("resources.gpus", {"resources": {"gpus": 0}}, "1"),
    ("resources.gpus.max", {"resources": {"gpus": {"min": 1}}}, "required"),
    ("resources.gpus.min", {"resources": {"gpus": {"min": "1", "max": 2}}}, "whole number"),
    ("resources.gpus.step", {"resources": {"gpus": {"min": 1, "max": 2, "step": 1}}}, "remove it"),
    ("resources.gpus", {"resources": {"gpus": [1, 2]}}, "whole number"),
    ("resources.gpus", {"resources": {"gpus": 2**31}}, "64"),
    ("resources.fraction", {"resources": {"fraction": 0}}, "0"),
    ("resources.fraction", {"resources": {"fraction": float("nan")}}, "0"),
    ("resources.fraction", {"resources": {"fraction": True}}, "number"),
    ("resources.fraction", {"resources": {"fraction": "0.5"}}, "number"),
    ("resources.memory_mib", {"resources": {"memory_mib": 0}}, "1"),
    ("resources.memory_mib", {"resources": {"memory_mib": 2**63}}, "1099511627776"),
    ("resources.quiet", {"resources": {"quiet": "yes"}}, "true or false"),
    ("resources.isolation", {"resources": {"isolation": "mps"}}, "'time-slice'"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-fracton": "0.5"}}, "kaiwo.ai/gpu-fraction"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-fraction": "half"}}, "give a number"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-fraction": "0"}}, "above 0"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-fraction": "nan"}}, "above 0"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-fraction": "1e300"}}, "at most 64"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-memory": "0"}}, "above 0"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-memory": "1e300"}}, "at most"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-memory": "0.5"}}, "whole MiB"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-sharing": "maybe"}}, "true or false"),
    ("annotations", {"annotations": {"kaiwo.ai/gpu-isolation": "mps"}}, "time-slicing"),
    (
        "annotations",
        {"annotations": {"kaiwo.ai/gpu-isolation": "mig", "kaiwo.ai/gpu-sharing": "false"}},
        "leave one of them out",
    ),
    (
        "annotations",
        {"resources": {"gpus": 2}, "annotations": {"kaiwo.ai/gpu-memory": "1"}},
        "as well as `resources`",
    ),
)
RESERVATIONS = wrong(
    "reservations",
    {"gpu_type": "mi300x", "gpu_count": 2, "hours": 1.5, "keys": [{"public_key": "ssh-ed25519 AAAA"}]},
    ("hours", {"hours": 0}),
    ("hours", {"hours": "1"}),
    ("gpu_count", {"gpu_count": 0}),
    ("body", {"keys": [], "own_keys": False}),
    ("own_keys", {"own_keys": 1}),
    ("add_users.0", {"add_users": [{}]}),
    ("keys.0.public_key", {"keys": [{"user": "bob"}]}),
    ("priority", {"priority": 101}),
    ("minutes", {"minutes": 5}),
)
OTHERS = [
    *wrong("reservations/quote", {"hours": 1}, ("start_time", {"start_time": "2096-10-02T09:06"})),
    *wrong(
        "reservations/res_01J/users",
        {},
        ("add.0", {"add": [{}]}),
        ("add", {"add": [{"user": f"u{number}"} for number in range(17)]}),
    ),
    *wrong("reservations/res_01J/notify", {}, ("text", {"text": ""})),
    *wrong(
        "tokens",
        {"name": "x"},
        ("name", {"name": "x" * 10_000}),
        ("lifetime_seconds", {"lifetime_seconds": -1}),
        ("lifetime_seconds", {"lifetime_seconds": 0}),
        ("lifetime_seconds", {"lifetime_seconds": 1e18}),
        ("expire_time", {"expire_time": "tomorrow"}),
        ("expire_time", {"expire_time": "2100-01-01T00:00:00"}),
        ("body", {"expire_time": LATER, "lifetime_seconds": 5}),
        ("scopes", {"scopes": "read"}),
        ("scope", {"scope": ["read"]}),
        ("account_id", {"account_id": "a" * 101}),
    ),
    *(
        one
        for path in ("users", "accounts", "teams")
        for one in wrong(
            path,
            {"name": "x"},
            ("name", {"name": ""}),
            ("name", {"name": "x" * 10_000}),
            ("grant_usd", {"grant_usd": -1.0}),
            ("grant_usd", {"grant_usd": 1e30}),
            ("grant_usd", {"grant_usd": "5"}),
            ("colour", {"colour": "red"}),
        )
    ),
    *wrong("users", {"name": "x"}, ("role", {"role": "root"}, "'user', 'operator', 'admin' or 'service'")),
    *wrong("keys", {}, *(("public_key", {"public_key": no}) for no in ("", "x" * 20_000, 1))),
    *(one for path in ("tokens", "users", "teams") for one in wrong(path, {}, ("name", {}))),
    *wrong("keys", {}, ("public_key", {})),
    *wrong(
        "prices",
        PRICE,
        ("price_usd_per_hour", {"price_usd_per_hour": 1e300}),
        ("price_usd_per_hour", {"price_usd_per_hour": "2"}),
        ("start_time", {"start_time": "2027-01-01T00:00:00"}),
        ("end_time", {"end_time": "9999-12-31T23:59:59-12:00"}),
        ("minimum_billed_seconds", {"minimum_billed_seconds": -1}),
        ("since", {"since": 1}),
    ),
    *wrong("prices", {}, ("gpu_type", {"price_usd_per_hour": 2})),
    *wrong(
        "machines",
        {},
        ("spot", {"spot": "sometimes"}),
        *(("gpu_count", {"gpu_count": no}) for no in ("many", "2", True)),
        *(("force_new", {"force_new": no}) for no in ("yes", 1)),
        *(("max_price_usd_per_hour", {"max_price_usd_per_hour": no}) for no in (1e30, "2.5")),
        ("max_duration_seconds", {"max_duration_seconds": True}),
        ("gpus", {"gpus": 8}),
    ),
    *wrong(
        "sign-in",
        {},
        ("body", {}),
        ("body", {"nonce": "n"}),
        ("body", {"id_token": ""}),
        ("body", CODE | {"id_token": "a.b.c"}),
        ("user", {"user": "x"}),
    ),
    *(
        ("/api/v1/queues/apply", {"documents": [KAIWO | change]}, f"documents.0.{field}", "")
        for field, change in (
            ("kind", {"kind": "Queue"}),
            ("apiVersion", {"apiVersion": "v1"}),
            ("metadata.name", {"metadata": {}}),
            ("spec.colour", {"spec": {"colour": "red"}}),
            ("spec.resources.gpu.quota", {"spec": {"resources": {"gpu": {"quota": "many"}}}}),
            ("spec.resources.gpu.quota", {"spec": {"resources": {"gpu": {"quota": -2}}}}),
            ("spec.timeLimit", {"spec": {"timeLimit": "0s"}}),
            ("spec.closed", {"spec": {"timeLimit": None, "closed": 1}}),
            ("spec.classes.big.value", {"spec": {"classes": {"big": {"value": 1001}}}}),
            ("spec.classes.big.vaule", {"spec": {"classes": {"big": {"vaule": 1}}}}),
            ("spec.maxPriority", {"spec": {"maxPriority": 101}}),
            ("spec.maxPriority", {"spec": {"maxPriority": "10"}}),
            ("spec.maxPriorityByAccount.acct", {"spec": {"maxPriorityByAccount": {"acct": -1}}}),
            ("spec.fairness.policy", {"spec": {"fairness": {"policy": "lottery"}}}),
            ("spec.fairness.reclaimStrategy", {"spec": {"fairness": {"reclaimStrategy": "never"}}}),
            ("spec.fairness.reclaimMinRuntime", {"spec": {"fairness": {"reclaimMinRuntime": "soon"}}}),
        )
    ),
]
QUERIES = [
    *(f"quote?{wrong}" for wrong in ("eighths=9", "gpus=0", "duration_seconds=0", "duration_seconds=nan")),
    *(
        f"metrics/jobs?{wrong}"
        for wrong in ("group_by=colour", "since=yesterday", "since=5", f"account_id={'x' * 101}")
    ),
    *("rankings", "rankings?problem=", "rankings?problem=vecadd&limit=0", "rankings?problem=vecadd&timing=lukewarm"),
    *("reservations/usage?days=0", "submissions?page_size=0"),
]


@pytest.mark.parametrize(("path", "body", "field", "words"), [*SUBMISSIONS, *RESERVATIONS, *OTHERS])
async def test_a_wrong_field_is_named_with_the_fix_and_reaches_no_service(
    gateway: RunningGateway, path: str, body: dict[str, Any], field: str, words: str
) -> None:
    headers = ADMIN | {"Content-Type": "application/json"}
    answer = await gateway.http.post(path, content=json.dumps(body), headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    [error] = answer.json()["errors"]
    assert (error["field"], words in error["message"]) == (field, True), error
    assert set(gateway.calls) <= {"AuthenticateToken"}


@pytest.mark.parametrize("query", QUERIES)
async def test_a_wrong_parameter_is_refused(gateway: RunningGateway, query: str) -> None:
    answer = await gateway.http.get(f"/api/v1/{query}")
    assert (answer.status_code, set(gateway.calls) <= {"AuthenticateToken"}) == (422, True)
