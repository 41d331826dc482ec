"""Events of a job, as the bytes in its log: a JobEvent, or ReservationEvent, with only its `event` set.

Those that jobs and reservations have in common have the same bytes.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from wavepool.executor.v1 import run_event_pb2, session_pb2
from wavepool.scheduler.v1 import reservations_pb2, scheduler_pb2

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.reservation import Extension, Reservation
from services.scheduler.jobs.states import JobState
from services.scheduler.wire.messages import reservation_state_to_proto, state_to_proto, verdict_to_proto


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


def session(event: session_pb2.SessionEvent, rank: int = 0) -> bytes:
    """Event: something happened to a reservation's session on its machine of that rank."""
    return reservations_pb2.ReservationEvent(session=event, node=rank).SerializeToString()


def pending(reservation: Reservation) -> bytes:
    """Event: a reservation waits for its start."""
    event = reservations_pb2.ReservationPending(start_time=instant_to_proto(reservation.start_time))
    return reservations_pb2.ReservationEvent(pending=event).SerializeToString()


def no_show(end_time: datetime) -> bytes:
    """Event: nobody has logged in to a reservation, and it is ended then for that."""
    event = reservations_pb2.ReservationNoShow(end_time=instant_to_proto(end_time))
    return reservations_pb2.ReservationEvent(no_show=event).SerializeToString()


def recalled(queue: str, end_time: datetime | None) -> bytes:
    """Event: a reservation is ended then for another queue; None: that queue waits no more."""
    event = reservations_pb2.ReservationRecalled(queue=queue, end_time=instant_to_proto(end_time))
    return reservations_pb2.ReservationEvent(recalled=event).SerializeToString()


def active(reservation: Reservation) -> bytes:
    """Event: people can log in."""
    event = reservations_pb2.ReservationActive(
        expire_time=instant_to_proto(reservation.expire_time),
        host_key=reservation.host_key,
        login_user=reservation.login_user,
        gaps=reservation.gaps,
    )
    return reservations_pb2.ReservationEvent(active=event).SerializeToString()


def extended(reservation: Reservation, extension: Extension) -> bytes:
    """Event: a reservation has more time."""
    event = reservations_pb2.ReservationExtended(
        duration=duration_to_proto(extension.duration),
        expire_time=instant_to_proto(reservation.expire_time),
        user_id=extension.user_id,
    )
    return reservations_pb2.ReservationEvent(extended=event).SerializeToString()


def users_changed(before: Reservation, after: Reservation, user_id: str) -> bytes:
    """Event: a user has changed who may log in to a reservation."""
    added = [key for key in after.keys if key not in before.keys]
    event = reservations_pb2.ReservationUsersChanged(
        users=after.users,
        user_id=user_id,
        added=dict.fromkeys(key.user for key in added),
        added_keys=[session_pb2.SessionKey(user=key.user, public_key=key.line) for key in added],
        removed=[user for user in before.users if user not in after.users],
        editors=[one.user for one in after.editors if one not in before.editors],
    )
    return reservations_pb2.ReservationEvent(users_changed=event).SerializeToString()


def notified(text: str, terminals: int, user_id: str) -> bytes:
    """Event: a user has written to the terminals of a reservation."""
    event = reservations_pb2.ReservationNotified(text=text, terminals=terminals, user_id=user_id)
    return reservations_pb2.ReservationEvent(notified=event).SerializeToString()


def ending(user_id: str, reason: str) -> bytes:
    """Event: a user ends a reservation, or the platform does, for a reason."""
    event = reservations_pb2.ReservationEnding(user_id=user_id, reason=reason)
    return reservations_pb2.ReservationEvent(ending=event).SerializeToString()


def ended(job: Job) -> bytes:
    """Event: the job, or reservation, is over."""
    if job.reservation:
        over = reservations_pb2.ReservationEnded(
            state=reservation_state_to_proto(job.reservation_state), message=job.message, cost_micros=job.cost_micros
        )
        return reservations_pb2.ReservationEvent(ended=over).SerializeToString()
    event = scheduler_pb2.Ended(
        state=state_to_proto(job.state), cost_micros=job.cost_micros, machine_gpu_type=job.machine_gpu_type
    )
    event.result.ParseFromString(job.result)
    return scheduler_pb2.JobEvent(ended=event).SerializeToString()


def session_outcome(job: Job, ending: JobState, used: timedelta, message: str) -> Outcome:
    """Outcome of a reservation that was used for so long; its owner reads the message."""
    finished = run_event_pb2.Finished(message=message)
    finished.billable.FromTimedelta(used)
    return Outcome(ending, "", message, finished.SerializeToString(), job.charge_for(used))


def outcome(ending: Ending, details: str = "") -> Outcome:
    """Outcome of a job that has no result of a run and costs nothing; `details` are for an operator."""
    finished = run_event_pb2.Finished(
        verdict=verdict_to_proto(ending.verdict), message=ending.message, details=details, reason=ending.reason
    )
    return Outcome(ending.state, ending.verdict, ending.message, finished.SerializeToString(), cost_micros=0)
