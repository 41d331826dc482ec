"""Queues over HTTP, on a scripted queue service."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from wavepool.scheduler.v1 import queues_pb2 as pb
from wavepool.scheduler.v1 import scheduler_pb2

from gateway.queues.documents import QueueDocument, document_of
from gateway.submissions.machine_use import admitted_machine_use
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_answers import LAB, RED
from tests.gateway.scripted_services import OPERATOR_TOKEN, USER_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPERATOR = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
KAIWO: dict[str, Any] = {
    "apiVersion": "kaiwo.ai/v1alpha2",
    "kind": "KaiwoQueue",
    "metadata": {"name": "red", "labels": {"team": "red"}},
    "spec": {
        "displayName": "Team Red",
        "parentQueue": "lab",
        "priority": 200,
        "resources": {"gpu": {"quota": 4, "overQuotaWeight": 2.5, "limit": -1}},
        "fairness": {"policy": "kueue", "reclaimStrategy": "aggressive"},
    },
}


async def test_queues_are_listed_with_what_they_have_and_the_document_that_describes_them(
    gateway: RunningGateway,
) -> None:
    found = (await gateway.http.get("/api/v1/queues")).json()

    lab, red = found["queues"]
    assert (lab["name"], lab["display_name"], lab["parent"], lab["shares"]) == ("lab", "lab", None, [])
    assert (red["parent"], red["running"], red["waiting"], found["generation"]) == ("lab", 1, 2, 5)
    assert red["shares"] == [{"gpu_type": "MI300X", "quota": 4.0, "fair_share": 3.0, "used": 1.0, "limit": None}]
    assert (red["ordering"], red["placement"], red["default_class"]) == ("classic", "spread", "batch")
    assert red["classes"] == {"batch": {}, "urgent": {"value": 20, "administratorsOnly": True}}
    assert found["plugins"] == [
        {
            "kind": "ordering",
            "name": "short-first",
            "distribution": "wavepool-short-first 1.0",
            "failures": 2,
            "last_failure": None,
            "queues": ["red"],
        }
    ]
    asked_by_operator = (await gateway.http.get("/api/v1/queues", headers=OPERATOR)).json()
    assert asked_by_operator["plugins"][0]["last_failure"] == "ZeroDivisionError: no worth"
    assert red["document"]["spec"]["fairness"] == {"reclaimStrategy": "aggressive", "reclaimMinRuntime": "300s"}


@pytest.mark.parametrize("queue", [LAB, RED], ids=lambda queue: queue.name)
async def test_a_document_that_was_given_out_describes_the_same_queue(queue: pb.Queue) -> None:
    assert QueueDocument.model_validate(document_of(queue)).queue() == queue


async def test_what_a_queue_lets_other_accounts_ask_for_is_shown_to_operators_alone(gateway: RunningGateway) -> None:
    gateway.services.identity.visible[USER_TOKEN] = ["acc_team"]

    mine = (await gateway.http.get("/api/v1/queues")).json()["queues"][1]
    operators = (await gateway.http.get("/api/v1/queues", headers=OPERATOR)).json()["queues"][1]

    assert mine["max_priority"] == 5
    assert mine["document"]["spec"]["maxPriority"] == 0
    assert mine["document"]["spec"]["maxPriorityByAccount"] == {"acc_team": 30}
    assert operators["document"]["spec"]["maxPriorityByAccount"] == {"acc_other": 20, "acc_team": 30}


async def test_a_document_of_kaiwo_is_taken_as_it_is(gateway: RunningGateway) -> None:
    body = {"documents": [KAIWO], "prune": True, "expected_generation": 5}
    answer = await gateway.http.post("/api/v1/queues/apply", json=body, headers=OPERATOR)

    assert answer.json() == {
        "changes": [
            {
                "name": "red",
                "kind": "CHANGED",
                "fields": [{"field": "resources.gpu.quota", "before": "4", "after": "6"}],
            }
        ],
        "generation": 6,
    }
    request = gateway.calls["ApplyQueues"][-1]
    (queue,) = request.queues
    assert (request.prune, request.dry_run, request.expected_generation) == (True, False, 5)
    assert (queue.name, queue.parent, queue.priority) == ("red", "lab", 200)
    assert (queue.policy, queue.reclaim_strategy) == (pb.FAIRNESS_POLICY_KUEUE, pb.RECLAIM_STRATEGY_AGGRESSIVE)
    gpu = queue.resources["gpu"]
    assert (gpu.quota, gpu.over_quota_weight, gpu.limit, gpu.HasField("lending_limit")) == (4, 2.5, -1, False)


async def test_a_queue_is_closed_as_it_was_described_and_not_as_it_has_become(gateway: RunningGateway) -> None:
    await gateway.http.post("/api/v1/queues/red/close", headers=OPERATOR)

    request = gateway.calls["ApplyQueues"][-1]
    assert (request.expected_generation, [queue.name for queue in request.queues]) == (5, ["red"])
    assert request.queues[0].closed
    request.queues[0].closed = False
    assert request.queues[0] == RED


async def test_an_operator_begins_and_ends_the_maintenance_of_a_type(gateway: RunningGateway) -> None:
    route, body = "/api/v1/gpu-types/MI300X/maintenance", {"reason": "new firmware", "until": "2027-01-15T15:00:00Z"}
    assert (await gateway.http.put(route, json=body, headers=OPERATOR)).status_code == 204
    begun = gateway.calls["SetMaintenance"][-1]
    assert (begun.gpu_type, begun.reason, begun.user_id) == ("MI300X", "new firmware", "user_operator")
    assert (begun.until.seconds, begun.ended) == (1_800_025_200, False)
    assert (await gateway.http.delete(route, headers=OPERATOR)).status_code == 204
    assert gateway.calls["SetMaintenance"][-1] == pb.SetMaintenanceRequest(
        gpu_type="MI300X", user_id="user_operator", ended=True
    )


async def test_an_unknown_queue_is_a_404_with_those_that_there_are(gateway: RunningGateway) -> None:
    for method, path in (("POST", "blue/close"), ("POST", "blue/open"), ("DELETE", "blue")):
        answer = await gateway.http.request(method, f"/api/v1/queues/{path}", headers=OPERATOR)
        assert answer.status_code == 404
        assert "lab, red" in answer.json()["detail"]


async def test_users_see_queues_and_do_not_change_them(gateway: RunningGateway) -> None:
    assert (await gateway.http.post("/api/v1/queues/apply", json={})).status_code == 403
    assert (await gateway.http.delete("/api/v1/queues/red")).status_code == 403


async def test_why_a_submission_waits_is_said_without_others_jobs(gateway: RunningGateway) -> None:
    gateway.services.identity.visible[USER_TOKEN] = ["acc_team"]
    gateway.refusals["GetJob"] = refusal(grpc.StatusCode.NOT_FOUND, "no such job")

    found = (await gateway.http.get("/api/v1/submissions/job_1/why")).json()

    assert found["reason"] == "2 jobs are ahead of it, (of another account) among them."
    assert found["machines"][0]["reason"] == "in use by (of another account)"
    assert [one["scores"] for one in found["machines"]] == [
        [],
        [{"name": "promised", "value": 0.0}, {"name": "spread", "value": 2.0}],
    ]
    assert (found["position"], found["ahead_in_queue"], found["queue"]) == (3, 2, "red")
    assert (found["ordering"], found["class"], found["class_value"], found["placement"]) == (
        "classic",
        "urgent",
        20,
        "spread",
    )
    assert (found["eta_p50_seconds"], found["eta_p90_seconds"]) == (90.0, 600.0)
    assert found["estimate_basis"] == "12 runs of the same problems"
    assert (found["deadline"], found["latest_start_time"]) == ("2026-11-01T12:00:00Z", "2026-11-01T11:45:00Z")
    assert "acc_team" in gateway.calls["ExplainJob"][-1].account_ids


async def test_a_closed_queue_is_no_lack_of_credit(gateway: RunningGateway) -> None:
    wrong = (("spec.queue", "'red' takes no new jobs"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.FAILED_PRECONDITION, "", wrong)
    body = {"problem": "vector-addition", "code": "x", "queue": "red"}

    answer = await gateway.http.post("/api/v1/submissions", json=body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (409, "queue")
    assert gateway.calls["SubmitJob"][-1].spec.queue == "red"


async def test_class_and_placement_of_a_submission_are_passed_on_and_faults_have_their_names(
    gateway: RunningGateway,
) -> None:
    body = {"problem": "vector-addition", "code": "x", "queue": "red", "class": "urgent", "placement": "spread"}
    body |= {"mode": "check", "movable": True, "name": "scale.hip"}

    made = await gateway.http.post("/api/v1/submissions", json=body)
    spec = gateway.calls["SubmitJob"][-1].spec
    wrong = (("spec.job_class", "'urgnt' is no class"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "", wrong)
    refused = await gateway.http.post("/api/v1/submissions", json=body | {"class": "urgnt"})

    assert (spec.job_class, spec.placement, spec.movable, spec.name) == ("urgent", "spread", True, "scale.hip")
    assert made.json()["name"] == "scale.hip"
    assert (made.json()["class"], made.json()["placement"], made.json()["movable"]) == ("urgent", "spread", True)
    assert refused.json()["errors"][0]["field"] == "class"


async def test_a_deadline_is_passed_on_and_shown_again(gateway: RunningGateway) -> None:
    body = {"problem": "vector-addition", "code": "x", "deadline": "2126-11-01T13:00:00+01:00"}

    made = await gateway.http.post("/api/v1/submissions", json=body)

    assert gateway.calls["SubmitJob"][-1].spec.deadline.ToJsonString() == "2126-11-01T12:00:00Z"
    assert made.json()["deadline"] == "2126-11-01T12:00:00Z"
    assert (await gateway.http.post("/api/v1/submissions", json=body | {"deadline": None})).json()["deadline"] is None


async def test_which_machines_a_submission_may_run_on_is_passed_on_and_shown_again(gateway: RunningGateway) -> None:
    body: dict[str, Any] = {"problem": "vector-addition", "code": "x"}
    for word, number in (
        ("reuse", scheduler_pb2.MACHINE_REUSE_REUSE),
        ("reuse-or-create", scheduler_pb2.MACHINE_REUSE_REUSE_OR_CREATE),
        ("create", scheduler_pb2.MACHINE_REUSE_CREATE),
    ):
        made = await gateway.http.post("/api/v1/submissions", json=body | {"machine": {"reuse": word}})
        assert gateway.calls["SubmitJob"][-1].spec.machine.reuse == number
        assert made.json()["machine"]["reuse"] == word
    plain = await gateway.http.post("/api/v1/submissions", json=body)
    assert not gateway.calls["SubmitJob"][-1].spec.HasField("machine")
    assert plain.json()["machine"]["reuse"] == "reuse-or-create"
    assert plain.json()["machine"]["idle_seconds"] is None
    for seconds in (0, 60):
        made = await gateway.http.post("/api/v1/submissions", json=body | {"machine": {"idle_seconds": seconds}})
        asked = gateway.calls["SubmitJob"][-1].spec.machine
        assert (asked.HasField("idle_time"), asked.idle_time.seconds) == (True, seconds)
        assert made.json()["machine"]["idle_seconds"] == seconds
    made = await gateway.http.post("/api/v1/submissions", json=body | {"machine": {"wait_for_operator": True}})
    assert gateway.calls["SubmitJob"][-1].spec.machine.wait_for_operator
    assert made.json()["machine"]["wait_for_operator"]


async def test_a_word_of_a_newer_scheduler_is_shown_as_a_number() -> None:
    assert admitted_machine_use(scheduler_pb2.MachineUse(reuse=77)).reuse == "77"  # pyright: ignore[reportArgumentType] - of a newer scheduler
