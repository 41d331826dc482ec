"""What happened to a job, as the bytes that its log keeps: a JobEvent with only its `event` set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

from services.scheduler.wire.messages import state_to_proto, verdict_to_proto
from vocabulary.verdicts import CANCELLED, INFRA_ERROR

if TYPE_CHECKING:
    from services.scheduler.jobs.estimate import WaitEstimate
    from services.scheduler.jobs.job import Job


def queued(position: int, wait: WaitEstimate | None, message: str) -> bytes:
    """The job waits at a position from 1."""
    event = scheduler_pb2.Queued(position=position, message=message)
    if wait is not None:
        event.eta_p50.FromTimedelta(wait.p50)
        event.eta_p90.FromTimedelta(wait.p90)
    return scheduler_pb2.JobEvent(queued=event).SerializeToString()


def provisioning(event: scheduler_pb2.Provisioning) -> bytes:
    """The job is getting a machine."""
    return scheduler_pb2.JobEvent(provisioning=event).SerializeToString()


def run(event: run_event_pb2.RunEvent) -> bytes:
    """A step on the machine."""
    return scheduler_pb2.JobEvent(run=event).SerializeToString()


def retrying(reason: str) -> bytes:
    """The attempt is lost and the job goes back to the queue."""
    return scheduler_pb2.JobEvent(retrying=scheduler_pb2.Retrying(reason=reason)).SerializeToString()


def ended(job: Job) -> bytes:
    """The job is over."""
    event = scheduler_pb2.Ended(
        state=state_to_proto(job.state), cost_micros=job.cost_micros, machine_gpu_type=job.machine_gpu_type
    )
    event.result.ParseFromString(job.result)
    return scheduler_pb2.JobEvent(ended=event).SerializeToString()


def cancelled_result(message: str) -> bytes:
    """The result of a job that was cancelled and has no result of a run."""
    return _result(CANCELLED, message)


def failed_result(message: str, details: str) -> bytes:
    """The result of a job that we failed."""
    return _result(INFRA_ERROR, message, details)


def _result(verdict: str, message: str, details: str = "") -> bytes:
    finished = run_event_pb2.Finished(verdict=verdict_to_proto(verdict), message=message, details=details)
    return finished.SerializeToString()
