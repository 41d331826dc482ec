"""`/api/v1/queues`: the queues that share the GPUs, and why a submission waits."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from wavepool.scheduler.v1 import queues_pb2
from wavepool.scheduler.v1.queues_pb2 import (
    ApplyQueuesRequest,
    ExplainJobRequest,
    ListQueuesRequest,
    SetMaintenanceRequest,
)

from gateway.dependencies import Gateway, TheAccount, TheGateway, TheOverseer, TheVisibleJobs
from gateway.http.errors import Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.queues.documents import JobClassDocument, QueueDocument, classes_of, document_of
from gateway.routes.identity_calls import call
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import Documented, QueueChangeKindWord, SchedulerPluginKindWord
from gateway.words.proto_time import NoNumber, timestamp_of
from gateway.words.shown import shown

router = APIRouter(tags=["queues"], route_class=JsonRoute)

MOST_DOCUMENTS = 1_000
GpuType = Annotated[str, Path(max_length=100, description="In any case.")]


class QueueShare(BaseModel):
    """The GPUs of one type that a queue may have and has."""

    gpu_type: str
    quota: Annotated[float, Field(description="GPUs that it may always use, whatever others ask for; -1: all.")]
    fair_share: Annotated[float, Field(description="Its share of the GPUs there are now.")]
    used: float
    limit: Annotated[float | None, Field(description="The maximum that it may use; null: no limit.")]


class Queue(BaseModel):
    """A queue with all below it."""

    name: str
    display_name: str
    parent: str | None
    closed: Annotated[bool, Field(description="It accepts no new submissions.")]
    waiting: int
    running: int
    later_reservations: Annotated[int, Field(description="Reservations that start later, and do not wait yet.")]
    shares: Annotated[list[QueueShare], Field(description="By GPU type that was asked for since the last start.")]
    ordering: Annotated[str, Field(description="How its submissions are ordered.")]
    placement: Annotated[str, Field(description="How machines are chosen, unless a submission says otherwise.")]
    classes: Annotated[
        dict[str, Any],
        Documented(dict[str, JobClassDocument]),
        Field(description="The classes that its submissions may name."),
    ]
    default_class: str | None
    max_priority: Annotated[
        int, Field(description="The highest priority that its submissions may have without an administrator's token.")
    ]
    document: Annotated[
        dict[str, Any],
        Documented(QueueDocument),
        Field(
            description="Describes the queue; `POST /queues/apply` takes it. Accounts other than "
            "yours are left out, unless you are an operator."
        ),
    ]


class SchedulerPlugin(BaseModel):
    """An ordering or a placement that the scheduler has, or that a queue names and the scheduler lacks."""

    kind: SchedulerPluginKindWord
    name: str
    distribution: Annotated[str | None, Field(description="Its package and version; null: built in, or not installed.")]
    failures: Annotated[int, Field(description="Answers that could not be used; the built-in plug-in decided instead.")]
    last_failure: Annotated[str | None, Field(description="In words, for operators.")]
    queues: Annotated[list[str], Field(description="Queues that use it.")]


class QueueList(BaseModel):
    """The tree, parents before children."""

    queues: list[Queue]
    generation: Annotated[int, Field(description="Increases with each change.")]
    plugins: list[SchedulerPlugin]


class ApplyRequest(BaseModel):
    """Descriptions of queues, and queues that are to go."""

    model_config = ConfigDict(extra="forbid")

    documents: Annotated[list[QueueDocument], Field(max_length=MOST_DOCUMENTS)] = []
    removed: Annotated[list[Annotated[str, Field(max_length=63)]], Field(max_length=MOST_DOCUMENTS)] = []
    prune: Annotated[
        bool, Field(strict=True, description="Remove every queue that no document describes, except `default`.")
    ] = False
    dry_run: Annotated[bool, Field(strict=True, description="Only report what would change.")] = False
    expected_generation: Annotated[int, Field(strict=True, ge=0, lt=2**63, description="0: any.")] = 0


class MaintenanceRequest(BaseModel):
    """Why a GPU type cannot be reserved, and until when."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"reason": "new firmware", "until": "2027-01-15T15:00:00Z"}]},
    )

    reason: Annotated[str, Field(min_length=1, max_length=300, description="Everybody who asks for it reads it.")]
    until: Annotated[
        Annotated[AwareDatetime, NoNumber] | None,
        Field(description="When it ends by itself; null: when you end it."),
    ] = None


class FieldChange(BaseModel):
    """A field, with both values as text."""

    field: str
    before: str
    after: str


class QueueChange(BaseModel):
    """A change of a queue."""

    name: str
    kind: QueueChangeKindWord
    fields: list[FieldChange]


class Applied(BaseModel):
    """The difference; empty if the tree is already as described."""

    changes: list[QueueChange]
    generation: int


class PlacementScore(BaseModel):
    """One value that machines with room are compared by."""

    name: Annotated[str, Field(description="`promised`, the name of the placement, or `last_used`.")]
    value: Annotated[float, Field(description="Higher is better.")]


class MachineRefusal(BaseModel):
    """Why one machine does not take the submission."""

    machine_id: str
    gpu_type: str
    reason: str
    scores: Annotated[list[PlacementScore], Field(description="If it has room; the first entry that differs decides.")]


class Explanation(BaseModel):
    """Where a submission stands."""

    id: str
    queue: str
    position: Annotated[int | None, Field(description="From 1; null if it does not wait.")]
    ahead_in_queue: int
    ahead_in_others: int
    reason: Annotated[str, Field(description="The rule that keeps it waiting, or where it is.")]
    remedy: Annotated[str, Field(description="Changes that would let it start; empty if it does not wait.")]
    eta_p50_seconds: float | None
    eta_p90_seconds: float | None
    estimate_basis: Annotated[str, Field(description="The runs that the estimate is made of, or why there is none.")]
    machines: list[MachineRefusal]
    shares: Annotated[list[QueueShare], Field(description="Of its queue.")]
    ordering: Annotated[str, Field(description="How its queue is ordered.")]
    job_class: Annotated[str | None, Field(serialization_alias="class")]
    class_value: Annotated[int, Field(description="The points that its class is worth in its queue.")]
    placement: Annotated[str, Field(description="How its machine is chosen.")]
    deadline: datetime | None
    latest_start_time: Annotated[
        datetime | None, Field(description="If it still waits after this, it is cancelled; null: it has no deadline.")
    ]


@router.get("/queues")
async def list_queues(account: TheAccount, gateway: TheGateway) -> QueueList:
    """List the queues with what each may have and has."""
    found = await gateway.upstreams.queues.ListQueues(ListQueuesRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return QueueList(
        queues=[
            _queue_of(status, None if account.oversees else account.visible_account_ids) for status in found.queues
        ],
        generation=found.generation,
        plugins=[
            shown(
                SchedulerPlugin,
                plugin,
                # The words of a plug-in's error are for those who run it.
                last_failure=plugin.last_failure if account.oversees and plugin.failures else None,
            )
            for plugin in found.plugins
        ],
    )


@router.post("/queues/apply", responses=problems(403, 409))
async def apply_queues(body: ApplyRequest, operator: TheOverseer, gateway: TheGateway) -> Applied:
    """Replace the tree of queues by the one described, completely or not at all. Runs continue. For operators."""
    del operator
    request = ApplyQueuesRequest(
        queues=[document.queue() for document in body.documents],
        removed=body.removed,
        prune=body.prune,
        dry_run=body.dry_run,
        expected_generation=body.expected_generation,
    )
    return await _applied(gateway, request)


@router.post("/queues/{name}/close", responses=problems(403, 404, 409))
async def close_queue(name: str, operator: TheOverseer, gateway: TheGateway) -> Applied:
    """Close a queue to new submissions; those that it has continue. For operators."""
    del operator
    return await _set_closed(gateway, name, closed=True)


@router.post("/queues/{name}/open", responses=problems(403, 404, 409))
async def open_queue(name: str, operator: TheOverseer, gateway: TheGateway) -> Applied:
    """Let a closed queue take submissions again. For operators."""
    del operator
    return await _set_closed(gateway, name, closed=False)


@router.put("/gpu-types/{gpu_type}/maintenance", status_code=204, responses=problems(403))
async def begin_maintenance(
    gpu_type: GpuType, body: MaintenanceRequest, operator: TheOverseer, gateway: TheGateway
) -> Response:
    """Keep a GPU type from new reservations; what is reserved stays, and submissions go on. For operators.

    You may still reserve it yourself.
    """
    request = SetMaintenanceRequest(
        gpu_type=gpu_type, reason=body.reason, until=timestamp_of(body.until), user_id=operator.user_id
    )
    return await _maintained(gateway, request)


@router.delete("/gpu-types/{gpu_type}/maintenance", status_code=204, responses=problems(403))
async def end_maintenance(gpu_type: GpuType, operator: TheOverseer, gateway: TheGateway) -> Response:
    """End the maintenance of a GPU type. For operators."""
    return await _maintained(gateway, SetMaintenanceRequest(gpu_type=gpu_type, user_id=operator.user_id, ended=True))


@router.delete("/queues/{name}", responses=problems(403, 404, 409))
async def remove_queue(name: str, operator: TheOverseer, gateway: TheGateway) -> Applied:
    """Remove a queue that has no submissions in flight. For operators."""
    del operator
    await _queue_named(gateway, name)
    return await _applied(gateway, ApplyQueuesRequest(removed=[name]))


@router.get("/submissions/{submission_id}/why", responses=problems(404))
async def explain_submission(
    submission_id: str,
    account: TheAccount,
    gateway: TheGateway,
    visible: TheVisibleJobs,
    machines: Annotated[int, Query(ge=0, le=50, description="How many machines to list.")] = 20,
) -> Explanation:
    """Explain why a submission waits: its position, the rule that blocks it, and what it waits for."""
    request = ExplainJobRequest(account_ids=account.overseen_account_ids, job_id=submission_id)
    found = await call(gateway.upstreams.queues.ExplainJob, request)
    return shown(
        Explanation,
        found,
        id=submission_id,
        reason=await visible.shown(found.reason),
        remedy=await visible.shown(found.remedy),
        machines=[
            shown(MachineRefusal, one, reason=await visible.shown(one.reason)) for one in found.machines[:machines]
        ],
    )


async def _applied(gateway: Gateway, request: ApplyQueuesRequest) -> Applied:
    return shown(Applied, await call(gateway.upstreams.queues.ApplyQueues, request))


async def _maintained(gateway: Gateway, request: SetMaintenanceRequest) -> Response:
    await call(gateway.upstreams.queues.SetMaintenance, request)
    return Response(status_code=204)


async def _set_closed(gateway: Gateway, name: str, *, closed: bool) -> Applied:
    queue, generation = await _queue_named(gateway, name)
    queue.closed = closed
    return await _applied(gateway, ApplyQueuesRequest(queues=[queue], expected_generation=generation))


async def _queue_named(gateway: Gateway, name: str) -> tuple[queues_pb2.Queue, int]:
    found = await gateway.upstreams.queues.ListQueues(ListQueuesRequest(), timeout=CALL_TIMEOUT_SECONDS)
    for status in found.queues:
        if status.queue.name == name:
            return status.queue, found.generation
    names = ", ".join(status.queue.name for status in found.queues)
    raise ProblemError(Problem(404, f"There is no queue {name[:63]!r}. There are: {names[:500]}."))


def _queue_of(status: queues_pb2.QueueStatus, account_ids: Collection[str] | None) -> Queue:
    queue = status.queue
    return shown(
        Queue,
        status,
        queue,
        display_name=queue.display_name or queue.name,
        waiting=status.waiting_jobs,
        running=status.running_jobs,
        classes=classes_of(status.classes),
        document=document_of(queue, account_ids),
    )
