"""A queue service whose answers are written here; it notes what it was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from wavepool.scheduler.v1 import queues_pb2 as pb
from wavepool.scheduler.v1 import queues_pb2_grpc

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals

LAB = pb.Queue(name="lab", priority=100, policy=pb.FAIRNESS_POLICY_KUEUE)
RED = pb.Queue(
    name="red",
    display_name="Team Red",
    parent="lab",
    priority=200,
    resources={"gpu": pb.QueueResource(quota=4, over_quota_weight=2.5, limit=-1, lending_limit=0)},
    reclaim_strategy=pb.RECLAIM_STRATEGY_AGGRESSIVE,
    max_jobs_per_user=7,
    ordering="classic",
    placement="spread",
    classes={"batch": pb.JobClass(), "urgent": pb.JobClass(value=20, administrators_only=True)},
    default_class="batch",
    max_priority=0,
    max_priority_by_account={"acc_other": 20, "acc_team": 30},
)
RED.reclaim_min_runtime.FromTimedelta(timedelta(minutes=5))
RED.time_limit.FromTimedelta(timedelta(minutes=10))


class ScriptedQueues(queues_pb2_grpc.QueueServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def ListQueues(self, request: Any, context: Any) -> pb.ListQueuesResponse:
        await self.refusals.meet("ListQueues", request, context)
        share = pb.QueueShare(gpu_type="MI300X", quota=4, fair_share=3, used=1)
        return pb.ListQueuesResponse(
            queues=[
                pb.QueueStatus(queue=LAB, waiting_jobs=2, running_jobs=1),
                pb.QueueStatus(
                    queue=RED,
                    waiting_jobs=2,
                    running_jobs=1,
                    shares=[share],
                    ordering=RED.ordering,
                    placement=RED.placement,
                    classes=RED.classes,
                    default_class=RED.default_class,
                    max_priority=5,
                ),
            ],
            generation=5,
            plugins=[
                pb.SchedulerPlugin(
                    kind=pb.SCHEDULER_PLUGIN_KIND_ORDERING,
                    name="short-first",
                    distribution="wavepool-short-first 1.0",
                    failures=2,
                    last_failure="ZeroDivisionError: no worth",
                    queues=["red"],
                )
            ],
        )

    async def ApplyQueues(self, request: Any, context: Any) -> pb.ApplyQueuesResponse:
        await self.refusals.meet("ApplyQueues", request, context)
        change = pb.QueueChange(
            name="red",
            kind=pb.QUEUE_CHANGE_KIND_CHANGED,
            fields=[pb.QueueFieldChange(field="resources.gpu.quota", before="4", after="6")],
        )
        return pb.ApplyQueuesResponse(changes=[change], generation=6)

    async def ExplainJob(self, request: Any, context: Any) -> pb.ExplainJobResponse:
        await self.refusals.meet("ExplainJob", request, context)
        answer = pb.ExplainJobResponse(
            position=3,
            queue="red",
            ahead_in_queue=2,
            reason="2 jobs are ahead of it, job_0THER among them.",
            remedy="A run that ends.",
            ordering="classic",
            job_class="urgent",
            class_value=20,
            placement="spread",
            machines=[
                pb.MachineRefusal(machine_id="m_1", gpu_type="MI300X", reason="in use by job_0THER"),
                pb.MachineRefusal(
                    machine_id="m_2",
                    gpu_type="MI300X",
                    reason="others are ahead",
                    scores=[pb.PlacementScore(name="promised"), pb.PlacementScore(name="spread", value=2)],
                ),
            ],
        )
        answer.deadline.FromJsonString("2026-11-01T12:00:00Z")
        answer.latest_start_time.FromJsonString("2026-11-01T11:45:00Z")
        answer.eta_p50.FromTimedelta(timedelta(seconds=90))
        answer.eta_p90.FromTimedelta(timedelta(minutes=10))
        return answer
