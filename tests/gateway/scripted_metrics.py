"""A metrics service whose answers are written here; it notes what it was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.scheduler.v1 import metrics_pb2 as pb
from wavepool.scheduler.v1 import metrics_pb2_grpc

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals


class ScriptedMetrics(metrics_pb2_grpc.MetricsServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def GetJobMetrics(self, request: Any, context: Any) -> pb.GetJobMetricsResponse:
        await self.refusals.meet("GetJobMetrics", request, context)
        ada = pb.JobMetrics(
            group="user_ada",
            jobs=4,
            succeeded=3,
            accepted=2,
            failed=1,
            lost_attempts=3,
            wait=pb.Spread(p50_seconds=1.5, p90_seconds=9),
            run=pb.Spread(p50_seconds=2, p90_seconds=3),
            useful_gpu_seconds=6,
            paid_gpu_seconds=8,
            efficiency=0.75,
            gflops=12.5,
        )
        cancelled = pb.JobMetrics(group="user_gone", jobs=1, cancelled=1)
        return pb.GetJobMetricsResponse(
            groups=[ada, cancelled],
            start_time=Timestamp(seconds=86_400),
            end_time=Timestamp(seconds=2 * 86_400),
            kept_since_time=Timestamp(seconds=1),
        )

    async def GetCurrentMetrics(self, request: Any, context: Any) -> pb.GetCurrentMetricsResponse:
        await self.refusals.meet("GetCurrentMetrics", request, context)
        queue = pb.CurrentMetrics(queue="default", gpu_type="MI300X", waiting_jobs=2, oldest_wait_seconds=7.5)
        return pb.GetCurrentMetricsResponse(queues=[queue], window_seconds=900)
