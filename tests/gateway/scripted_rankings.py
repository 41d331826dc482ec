"""A ranking service whose answers are written here; it notes what it was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavepool.scheduler.v1 import rankings_pb2 as pb
from wavepool.scheduler.v1 import rankings_pb2_grpc
from wavepool.submission.v1.submission_pb2 import TIMING_MODE_FIRST_CALL

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals


def _ranking(rank: int, user_id: str, runtime_ns: float) -> pb.Ranking:
    return pb.Ranking(rank=rank, user_id=user_id, job_id=f"job_{user_id}", runtime_ns=runtime_ns, gflops=2.5, timings=3)


class ScriptedRankings(rankings_pb2_grpc.RankingServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def ListRankings(self, request: Any, context: Any) -> pb.ListRankingsResponse:
        await self.refusals.meet("ListRankings", request, context)
        return pb.ListRankingsResponse(
            problem="vector-addition",
            gpu_type="MI300X",
            dtype="float32",
            timing_mode=TIMING_MODE_FIRST_CALL,
            ranked=True,
            rankings=[_ranking(1, "user_ada", 1.5e6), _ranking(2, "user_gone", 2e6)],
            own=_ranking(9, "user_user", 4e6),
            users=9,
        )

    async def CompareJobs(self, request: Any, context: Any) -> pb.CompareJobsResponse:
        await self.refusals.meet("CompareJobs", request, context)
        figures = {"speedup": 1.5, "speedup_low": 1.4, "speedup_high": 1.6}
        case = pb.CaseComparison(name="n = 2^20", base_runtime_ns=3e6, other_runtime_ns=2e6, **figures)
        return pb.CompareJobsResponse(
            verdict=pb.COMPARISON_VERDICT_FASTER, reason="It is 1.500 times as fast.", cases=[case], **figures
        )
