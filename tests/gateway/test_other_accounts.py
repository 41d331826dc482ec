"""What belongs to one account is hidden from the others, on every route; a team's members share the team's."""

from __future__ import annotations

import re
from typing import Any

import grpc
import httpx
import pytest

from tests.gateway.job_events import ACCEPTED_CHECK, STEPS, ended, event, queued
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import OPERATOR_TOKEN, OTHER_TOKEN, ScriptedServices
from tests.job_specs import sound_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHER = {"Authorization": f"Bearer {OTHER_TOKEN}"}
OPERATOR = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
OF_A_JOB: list[tuple[str, str, Any]] = [
    ("GET", "/api/v1/submissions/job_1", None),
    ("GET", "/api/v1/submissions/job_1/events", None),
    ("GET", "/api/v1/submissions/job_1/events?after=1", None),
    ("GET", "/api/v1/submissions/job_1/isa", None),
    ("GET", "/api/v1/submissions/job_1/samples", None),
    ("GET", "/api/v1/submissions/job_1/report", None),
    ("POST", "/api/v1/submissions/job_1/cancel", None),
    ("POST", "/api/submissions/cancel", {"submissionId": "job_1"}),
]
OF_THE_JOB = re.compile("ended before|its mode is check")


async def put_finished_job(services: ScriptedServices, account_id: str = "acc_user") -> None:
    services.scheduler.put_job(sound_spec(), account_id)
    await services.scheduler.add(queued(1), event(2, run=STEPS["compiled"]), ended(3, ACCEPTED_CHECK))


@pytest.mark.parametrize(("method", "path", "body"), OF_A_JOB)
async def test_a_strange_token_learns_no_more_of_a_job_than_that_of_one_that_does_not_exist(
    gateway: RunningGateway, method: str, path: str, body: dict[str, str] | None
) -> None:
    await put_finished_job(gateway.services)
    refused = await gateway.http.request(method, path, json=body, headers=OTHER)
    assert refused.status_code == 404
    assert gateway.services.scheduler.cancelled == []
    assert "WatchJob" not in gateway.calls
    nothing = {"submissionId": "job_7"} if body else None
    unknown = await gateway.http.request(method, path.replace("job_1", "job_7"), json=nothing, headers=OTHER)
    assert told(refused) == told(unknown)
    # The owner of the job gets an answer; it has no report and no samples, which is said of the job.
    owned = await gateway.http.request(method, path, json=body)
    assert owned.is_success or OF_THE_JOB.search(owned.text)


def told(answer: httpx.Response) -> Any:
    """What an answer says, apart from ids."""
    words = answer.json()
    words.pop("request_id", None)
    words.pop("instance", None)
    return str(words).replace("job_7", "job_1")


async def test_a_job_that_was_just_submitted_is_followed_by_its_submitter_alone(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = [queued(1), ended(2, ACCEPTED_CHECK)]
    made = await gateway.http.post("/api/v1/submissions", json={"problem": "vector-addition", "code": "x"})
    assert (await gateway.http.get(made.json()["events_url"], headers=OTHER)).status_code == 404
    assert len(await gateway.frames("GET", made.json()["events_url"])) == 2


async def test_lists_costs_and_figures_are_asked_for_the_tokens_account_alone(gateway: RunningGateway) -> None:
    await put_finished_job(gateway.services)
    listed = await gateway.http.get("/api/v1/submissions", headers=OTHER)
    assert listed.json()["submissions"] == []
    # Nobody can name another account.
    await gateway.http.get("/api/v1/costs?account_id=acc_user", headers=OTHER)
    await gateway.http.get("/api/v1/metrics?account_id=acc_user", headers=OTHER)
    calls = gateway.calls
    asked = {request.account_id for name in ("ListJobs", "GetBalance", "ListPostings") for request in calls[name]}
    assert asked == {"acc_other"}


async def test_an_account_is_shown_only_after_billing_has_allowed_it(gateway: RunningGateway) -> None:
    gateway.refusals["GetAccount"] = refusal(grpc.StatusCode.NOT_FOUND, "There is no account 'ada'.")
    assert (await gateway.http.get("/api/v1/accounts/ada", headers=OTHER)).status_code == 404
    assert gateway.calls["GetAccount"][-1].caller_token_id == "tok_3"  # noqa: S105 - an id
    assert "GetBalance" not in gateway.calls


async def test_members_of_a_team_see_and_cancel_its_jobs(gateway: RunningGateway) -> None:
    await put_finished_job(gateway.services, "acc_team")
    gateway.services.identity.visible[OTHER_TOKEN] = ["acc_team"]
    for method, path, body in OF_A_JOB:
        assert (await gateway.http.request(method, path, json=body)).status_code == 404
        seen = await gateway.http.request(method, path, json=body, headers=OTHER)
        assert seen.is_success or OF_THE_JOB.search(seen.text)
    assert gateway.services.scheduler.cancelled == ["job_1", "job_1"]
    listed = await gateway.http.get("/api/v1/submissions?account_id=acc_team", headers=OTHER)
    assert [job["id"] for job in listed.json()["submissions"]] == ["job_1"]
    hidden = await gateway.http.get("/api/v1/submissions?account_id=acc_team")
    assert (hidden.status_code, gateway.calls["ListJobs"][1:]) == (404, [])


async def test_a_machine_names_a_teams_jobs_to_its_members(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(sound_spec(), "acc_team")
    gateway.services.vmpool.machine.reason = "job job_1 holds it"
    gateway.services.identity.visible[OTHER_TOKEN] = ["acc_team"]
    seen = await gateway.http.get("/api/v1/machines/m_1", headers=OTHER)
    hidden = await gateway.http.get("/api/v1/machines/m_1")
    assert (seen.json()["reason"], "job_1" in hidden.json()["reason"]) == ("job job_1 holds it", False)


async def test_operators_see_and_end_everybodys_submissions_but_read_neither_code_nor_result(
    gateway: RunningGateway,
) -> None:
    await put_finished_job(gateway.services)
    listed = await gateway.http.get("/api/v1/submissions?everybody=true", headers=OPERATOR)
    assert [(job["id"], job["account_id"]) for job in listed.json()["submissions"]] == [("job_1", "acc_user")]
    assert (await gateway.http.get("/api/v1/submissions", headers=OPERATOR)).json()["submissions"] == []
    named = await gateway.http.get("/api/v1/submissions?account_id=acc_user", headers=OPERATOR)
    assert [job["id"] for job in named.json()["submissions"]] == ["job_1"]
    one = (await gateway.http.get("/api/v1/submissions/job_1", headers=OPERATOR)).json()
    assert (one["own"], one["overseen"], one["problem"]) == (False, True, "leaky-relu")
    assert not {"code", "launch_plan", "problem_def", "request", "result"} & one.keys()
    for hidden in ("events", "isa", "samples", "report"):
        refused = await gateway.http.get(f"/api/v1/submissions/job_1/{hidden}", headers=OPERATOR)
        assert refused.status_code == 404
    assert (await gateway.http.get("/api/v1/submissions/job_1/why", headers=OPERATOR)).is_success
    assert (await gateway.http.post("/api/v1/submissions/job_1/cancel", headers=OPERATOR)).is_success
    assert gateway.services.scheduler.cancelled == ["job_1"]


async def test_a_user_who_asks_for_everybodys_submissions_reads_which_scope_that_needs(gateway: RunningGateway) -> None:
    refused = await gateway.http.get("/api/v1/submissions?everybody=true", headers=OTHER)
    assert (refused.status_code, "`operate` or `admin`" in refused.json()["detail"]) == (403, True)
    assert "ListJobs" not in gateway.calls
