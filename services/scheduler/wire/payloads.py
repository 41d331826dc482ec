"""Events of a job, as the bytes in its log: a JobEvent with only its `event` set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

from services.scheduler.jobs.job import Outcome
from services.scheduler.wire.messages import state_to_proto, verdict_to_proto

if TYPE_CHECKING:
    from services.scheduler.jobs.estimate import WaitEstimate
    from services.scheduler.jobs.job import Job
    from services.scheduler.jobs.outcome import Ending


def queued(position: int, wait: WaitEstimate | None, message: str, remaining_submissions: int | None = None) -> bytes:
    """Event: the job waits at a position from 1; at its submission also: what its account may still submit."""
    event = scheduler_pb2.Queued(position=position, message=message, remaining_submissions=remaining_submissions)
    if wait is not None:
        event.eta_p50.FromTimedelta(wait.p50)
        event.eta_p90.FromTimedelta(wait.p90)
    return scheduler_pb2.JobEvent(queued=event).SerializeToString()


def provisioning(event: scheduler_pb2.Provisioning) -> bytes:
    """Event: the job is getting a machine."""
    return scheduler_pb2.JobEvent(provisioning=event).SerializeToString()


def run(event: run_event_pb2.RunEvent) -> bytes:
    """Event: a step of the run on the machine."""
    return scheduler_pb2.JobEvent(run=event).SerializeToString()


def retrying(reason: str) -> bytes:
    """Event: the attempt is lost, and the job goes back to the queue."""
    return scheduler_pb2.JobEvent(retrying=scheduler_pb2.Retrying(reason=reason)).SerializeToString()


def ended(job: Job) -> bytes:
    """Event: the job is over."""
    event = scheduler_pb2.Ended(
        state=state_to_proto(job.state), cost_micros=job.cost_micros, machine_gpu_type=job.machine_gpu_type
    )
    event.result.ParseFromString(job.result)
    return scheduler_pb2.JobEvent(ended=event).SerializeToString()


def outcome(ending: Ending, details: str = "") -> Outcome:
    """Outcome of a job that has no result of a run and costs nothing; `details` are for an operator."""
    finished = run_event_pb2.Finished(
        verdict=verdict_to_proto(ending.verdict), message=ending.message, details=details, reason=ending.reason
    )
    return Outcome(ending.state, ending.verdict, ending.message, finished.SerializeToString(), cost_micros=0)
