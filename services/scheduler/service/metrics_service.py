"""MetricsService: decode, ask, encode."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.scheduler.v1 import metrics_pb2, metrics_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_time import instant_to_proto
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.job_figures import Grouping, JobFigures, Spread
from services.scheduler.jobs.queue_state import QueueState
from services.scheduler.monitoring.queue_monitor import QueueMonitor
from services.scheduler.store.attempt_reader import AttemptReader

USUAL_PERIOD = timedelta(days=1)
GROUPINGS = {
    metrics_pb2.JOB_GROUPING_UNSPECIFIED: Grouping.ALL,
    metrics_pb2.JOB_GROUPING_USER: Grouping.USER,
    metrics_pb2.JOB_GROUPING_QUEUE: Grouping.QUEUE,
    metrics_pb2.JOB_GROUPING_MACHINE: Grouping.MACHINE,
    metrics_pb2.JOB_GROUPING_PROBLEM: Grouping.PROBLEM,
    metrics_pb2.JOB_GROUPING_GPU_TYPE: Grouping.GPU_TYPE,
}


class MetricsServicer(metrics_pb2_grpc.MetricsServiceServicer):
    """The servicer; `metrics.proto` documents its methods."""

    def __init__(self, attempts: AttemptReader, monitor: QueueMonitor, clock: Clock, retention: timedelta) -> None:
        self._attempts = attempts
        self._monitor = monitor
        self._clock = clock
        self._retention = retention

    async def GetJobMetrics(
        self, request: metrics_pb2.GetJobMetricsRequest, context: object
    ) -> metrics_pb2.GetJobMetricsResponse:
        """Adds up what ended in a period."""
        if request.group_by not in GROUPINGS:
            raise InvalidFieldError("group_by", f"{request.group_by} is not valid; give 0 to {max(GROUPINGS)}")
        now = self._clock.now()
        until = _instant("end_time", request.end_time) if request.HasField("end_time") else now
        usual = until - USUAL_PERIOD
        since = _instant("start_time", request.start_time) if request.HasField("start_time") else usual
        if since > until:
            raise InvalidFieldError("start_time", f"must not be after the end; the period would end {until:%F %T} UTC")
        found = await self._attempts.figures(GROUPINGS[request.group_by], request.account_ids, since, until)
        return metrics_pb2.GetJobMetricsResponse(
            groups=[_figures_to_proto(one) for one in found],
            start_time=instant_to_proto(since),
            end_time=instant_to_proto(until),
            kept_since_time=instant_to_proto(now - self._retention),
        )

    async def GetCurrentMetrics(
        self, request: metrics_pb2.GetCurrentMetricsRequest, context: object
    ) -> metrics_pb2.GetCurrentMetricsResponse:
        """Says what waits and runs now."""
        del request, context
        return metrics_pb2.GetCurrentMetricsResponse(
            queues=[_state_to_proto(state) for state in self._monitor.states()],
            window_seconds=self._monitor.window.total_seconds(),
        )


def _instant(field: str, timestamp: Timestamp) -> datetime:
    try:
        return timestamp.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError(field, f"is not an instant: {error}") from error


def _figures_to_proto(one: JobFigures) -> metrics_pb2.JobMetrics:
    return metrics_pb2.JobMetrics(
        group=one.group,
        jobs=one.jobs,
        succeeded=one.succeeded,
        accepted=one.accepted,
        failed=one.failed,
        cancelled=one.cancelled,
        lost_attempts=one.lost_attempts,
        wait=_spread_to_proto(one.wait),
        run=_spread_to_proto(one.run),
        useful_gpu_seconds=one.useful_gpu_seconds,
        paid_gpu_seconds=one.paid_gpu_seconds,
        efficiency=one.efficiency,
        gflops=one.gflops,
    )


def _spread_to_proto(spread: Spread | None) -> metrics_pb2.Spread | None:
    return metrics_pb2.Spread(p50_seconds=spread.p50, p90_seconds=spread.p90) if spread else None


def _state_to_proto(state: QueueState) -> metrics_pb2.CurrentMetrics:
    return metrics_pb2.CurrentMetrics(
        queue=state.queue,
        gpu_type=state.gpu_type,
        waiting_jobs=state.waiting,
        running_jobs=state.running,
        oldest_wait_seconds=state.oldest_wait_seconds,
        p90_wait_seconds=state.p90_wait_seconds,
        stuck_jobs=state.stuck,
        ended_jobs=state.ended,
        failed_jobs=state.failed,
        lost_attempts=state.lost_attempts,
    )
