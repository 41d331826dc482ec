"""Converts reservations and their events to protos and back."""

from __future__ import annotations

from collections.abc import Iterable

from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler.jobs.availability import Availability, CalendarEntry, QueueHead
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.reservation import Node, Reservation
from services.scheduler.jobs.reservation_usage import Usage, UsageKey
from services.scheduler.jobs.states import JobState
from services.scheduler.wire.messages import reservation_state_to_proto

ACTS = frozenset({"extended", "users_changed", "notified", "ending"})
"""The events that people cause, but for logins."""


def reservation_to_proto(
    job: Job,
    reservation: Reservation,
    borrowed_gpus: float = 0.0,
    position: int = 0,
    wait: WaitEstimate | None = None,
) -> reservations_pb2.Reservation:
    """The reservation as a proto; `position` and `wait` while it waits."""
    steps = [
        reservations_pb2.ReservationStep(name=step.name, duration=duration_to_proto(step.duration))
        for step in reservation.steps
    ]
    if job.start_time and not job.is_dated:
        queued = duration_to_proto(job.start_time - job.create_time)
        steps.insert(0, reservations_pb2.ReservationStep(name="queue", duration=queued))
    recall = reservation.recall if job.state is JobState.RUNNING and not job.cancel_time else None
    return reservations_pb2.Reservation(
        reservation_id=job.job_id,
        account_id=job.account_id,
        user_id=job.user_id,
        spec=_spec_to_proto(job, reservation),
        state=reservation_state_to_proto(job.reservation_state),
        message=job.message,
        create_time=instant_to_proto(job.create_time),
        launch_time=instant_to_proto(job.start_time),
        active_time=instant_to_proto(reservation.active_time),
        expire_time=instant_to_proto(reservation.expire_time),
        end_time=instant_to_proto(job.end_time),
        machine_id=job.machine_id,
        machine_gpu_type=job.machine_gpu_type,
        machine_gpus=_first_gpus(job),
        nodes=_nodes_to_proto(job, reservation) if job.spec.machines > 1 else (),
        host_key=reservation.host_key,
        login_user=reservation.login_user,
        gaps=reservation.gaps,
        software=reservation.software,
        steps=steps,
        extensions=[
            reservations_pb2.ReservationExtension(
                duration=duration_to_proto(one.duration), time=instant_to_proto(one.time), user_id=one.user_id
            )
            for one in reservation.extensions
        ],
        out_of_memory_kills=reservation.all_out_of_memory_kills,
        last_login_time=instant_to_proto(reservation.last_login_time),
        connections=reservation.all_connections,
        price_micros_per_hour=job.machine_price_micros_per_hour,
        hold_micros=job.hold_micros,
        cost_micros=job.cost_micros,
        attempts=job.attempt,
        editors=[reservations_pb2.ReservationEditor(user=one.user, user_id=one.user_id) for one in reservation.editors],
        last_seq=job.last_seq,
        borrowed_gpus=borrowed_gpus,
        recall_time=instant_to_proto(recall.time) if recall else None,
        recall_queue=recall.queue if recall else "",
        position=position,
        eta_p50=duration_to_proto(wait.p50) if wait else None,
        eta_p90=duration_to_proto(wait.p90) if wait else None,
        disk_safe_time=instant_to_proto(reservation.disk.safe_time) if reservation.disk else None,
        disk_fault=reservation.disk.fault if reservation.disk else "",
        image_digest=reservation.image_digest,
        idle_since=instant_to_proto(reservation.idle_since) if job.takes_logins else None,
        last_out_of_memory_time=instant_to_proto(reservation.last_out_of_memory_time),
    )


def _first_gpus(job: Job) -> list[int]:
    return sorted({slot.gpu for slot in job.lease.slots}) if job.lease else []


def _nodes_to_proto(job: Job, reservation: Reservation) -> list[reservations_pb2.ReservationNode]:
    """The machines of a reservation of several; before it has any, only their ranks."""
    state = job.reservation_state
    if not reservation.nodes:
        queued = reservation_state_to_proto(state)
        return [reservations_pb2.ReservationNode(rank=rank, state=queued) for rank in range(job.spec.machines)]
    first = Node(
        job.machine_id,
        tuple(_first_gpus(job)),
        ready_time=reservation.ready_time,
        host_key=reservation.host_key,
        login_user=reservation.login_user,
        gaps=reservation.gaps,
    )
    return [
        reservations_pb2.ReservationNode(
            rank=rank,
            machine_id=node.machine_id,
            machine_gpus=node.gpus,
            state=reservation_state_to_proto(state),
            host_key=node.host_key,
            login_user=node.login_user,
            gaps=node.gaps,
            ready_time=instant_to_proto(node.ready_time),
        )
        for rank, node in enumerate([first, *reservation.nodes])
    ]


def reservation_event_to_proto(event: JobEvent) -> reservations_pb2.ReservationEvent:
    """The event as a proto, with its place in the log."""
    message = reservations_pb2.ReservationEvent.FromString(event.payload)
    message.reservation_id = event.job_id
    message.seq = event.seq
    message.time.FromDatetime(event.time)
    message.attempt = event.attempt
    message.cost_micros = event.cost_micros
    return message


def acts_of(events: Iterable[JobEvent]) -> list[reservations_pb2.ReservationEvent]:
    """Those of a reservation's events that say what people did to it."""
    protos = map(reservation_event_to_proto, events)
    return [event for event in protos if event.WhichOneof("event") in ACTS]


def availability_to_proto(found: Availability) -> reservations_pb2.GpuAvailability:
    """What there is of a GPU type."""
    return reservations_pb2.GpuAvailability(
        gpu_type=found.gpu_type,
        total_gpus=found.total_gpus,
        free_gpus=found.free_gpus,
        largest_free=found.largest_free,
        reserved_gpus=found.reserved_gpus,
        queue_length=found.queue_length,
        price_micros_per_hour=found.price_micros_per_hour,
        waits=[
            reservations_pb2.SizeWait(
                gpus=gpus,
                eta_p50=duration_to_proto(wait.p50) if wait else None,
                eta_p90=duration_to_proto(wait.p90) if wait else None,
            )
            for gpus, wait in found.waits.items()
        ],
        startable_gpus=found.startable_gpus,
        next_dated_time=instant_to_proto(found.next_dated_time),
        next_dated_gpus=found.next_dated_gpus,
        maintenance=found.maintenance,
        queue_head=_queue_head_to_proto(found.queue_head) if found.queue_head else None,
    )


def _queue_head_to_proto(head: QueueHead) -> reservations_pb2.QueueHead:
    return reservations_pb2.QueueHead(
        gpus=head.gpus, create_time=instant_to_proto(head.create_time), reason=head.reason, eighths=head.eighths
    )


def calendar_entry_to_proto(entry: CalendarEntry) -> reservations_pb2.CalendarEntry:
    """A reservation in the calendar."""
    job, machine_ids = entry.job, entry.machine_ids
    return reservations_pb2.CalendarEntry(
        reservation_id=job.job_id,
        account_id=job.account_id,
        user_id=job.user_id,
        name=job.reserved.name,
        gpu_type=job.machine_gpu_type or job.spec.gpu_type,
        gpus=job.spec.gpus_in_all,
        begin_time=instant_to_proto(entry.begin),
        end_time=instant_to_proto(entry.end),
        state=reservation_state_to_proto(job.reservation_state),
        machine_id=machine_ids[0] if machine_ids else "",
        more_machine_ids=machine_ids[1:],
        late=entry.is_late,
    )


def usage_to_proto(key: UsageKey, usage: Usage) -> reservations_pb2.ReservationUsage:
    """The use of a day."""
    return reservations_pb2.ReservationUsage(
        day=instant_to_proto(key.day),
        account_id=key.account_id,
        user_id=key.user_id,
        gpu_type=key.gpu_type,
        gpu_time=duration_to_proto(usage.gpu_time),
        reservations=usage.reservations,
    )


def _spec_to_proto(job: Job, reservation: Reservation) -> reservations_pb2.ReservationSpec:
    return reservations_pb2.ReservationSpec(
        gpu_type=job.spec.gpu_type,
        gpus=job.spec.gpus_in_all,
        distributed=job.spec.machines > 1,
        # Without it there would be none.
        allow_slow_links=job.spec.machines > 1,
        duration=duration_to_proto(reservation.duration),
        name=reservation.name,
        keys=[session_pb2.SessionKey(user=key.user, public_key=key.line) for key in reservation.keys],
        queue=job.spec.queue,
        priority=job.spec.priority,
        fallback_gpu_types=job.spec.fallback_gpu_types,
        start_time=instant_to_proto(reservation.start_time),
        disk=reservation.disk.name if reservation.disk else "",
        image=reservation.image,
        build_digest=reservation.build_digest,
        preserve_entrypoint=reservation.preserve_entrypoint,
    )
