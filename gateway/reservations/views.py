"""Reservations and their events as JSON; pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1.session_pb2 import SessionKey, SessionSnapshot
from wavepool.scheduler.v1 import reservations_pb2 as pb

from gateway.reservations import event_schemas as events
from gateway.reservations import schemas
from gateway.submissions.frames import provisioning_fields
from gateway.submissions.run_frames import Frame, frame_from
from gateway.words.enum_names import reservation_state_name
from gateway.words.proto_time import instant_of, milliseconds_of, seconds_of, text_of
from gateway.words.shown import fields_of, shown
from vocabulary.money import dollars_of
from vocabulary.slots import EIGHTHS_PER_GPU
from vocabulary.ssh_keys import Key

RESERVATIONS = "/api/v1/reservations"
SECONDS_PER_HOUR = 3600
ACTS = frozenset(schemas.ActName)
OVER = frozenset({pb.RESERVATION_STATE_EXPIRED, pb.RESERVATION_STATE_CANCELLED, pb.RESERVATION_STATE_FAILED})


def reservation_path(reservation_id: str) -> str:
    """Where a reservation is."""
    return f"{RESERVATIONS}/{reservation_id}"


def user_ids_of(reservation: pb.Reservation) -> set[str]:
    """The users whose names its form has."""
    extensions = (one.user_id for one in reservation.extensions)
    return {reservation.user_id, *extensions, *filter(None, map(user_id_of, reservation.acts))}


def user_id_of(event: pb.ReservationEvent) -> str:
    """The user who caused an event; empty if no user did."""
    kind = event.WhichOneof("event")
    return getattr(event, kind).user_id if kind and kind in ACTS else ""


def reservation_of(reservation: pb.Reservation, names: Mapping[str, str], now: datetime) -> schemas.Reservation:
    """A reservation as it is at `now`; `names` has users' names by their ids."""
    spec = reservation.spec
    is_active = reservation.state == pb.RESERVATION_STATE_ACTIVE
    expires_at = instant_of(reservation.expire_time)
    left = max(0.0, (expires_at - now).total_seconds()) if expires_at and is_active else None
    return shown(
        schemas.Reservation,
        reservation,
        spec,
        owner=names.get(reservation.user_id, reservation.user_id),
        owner_id=reservation.user_id,
        gpu_count=spec.gpus or 1,
        hours=_hours(spec.duration),
        launched_at=instant_of(reservation.launch_time),
        expires_at=expires_at,
        time_left_seconds=left,
        disk_name=spec.disk or None,
        steps=[schemas.Step(name=step.name, seconds=seconds_of(step.duration)) for step in reservation.steps],
        extensions=[
            schemas.Extension(
                hours=_hours(one.duration), at=instant_of(one.time), by=names.get(one.user_id, one.user_id)
            )
            for one in reservation.extensions
        ],
        history=[_act_of(one, names) for one in reservation.acts if one.WhichOneof("event") in ACTS],
        ssh_command=_command(reservation.reservation_id) if is_active else None,
        users=list(dict.fromkeys(key.user for key in spec.keys)),
        editors=[one.user for one in reservation.editors],
        keys=[
            schemas.LoginKey(user=key.user, type=key.public_key.split(" ")[0], fingerprint=fingerprint_of(key))
            for key in spec.keys
        ],
        oom_count=reservation.out_of_memory_kills,
        last_oom_at=instant_of(reservation.last_out_of_memory_time),
        price_per_gpu_hour=dollars_of(reservation.price_micros_per_hour),
        # The scheduler keeps the amount that once was, which bounds the charge.
        hold_usd=0.0 if reservation.state in OVER else dollars_of(reservation.hold_micros),
        events_url=f"{reservation_path(reservation.reservation_id)}/events",
    )


def _act_of(event: pb.ReservationEvent, names: Mapping[str, str]) -> schemas.Act:
    user_id = user_id_of(event)
    act = schemas.Act(
        at=instant_of(event.time), by=names.get(user_id, user_id) or None, what=event.WhichOneof("event") or ""
    )
    match act.what:
        case "extended":
            return act.model_copy(update={"hours": _hours(event.extended.duration)})
        case "users_changed":
            changed = event.users_changed
            names_of = {"added": _let_in(changed), "removed": changed.removed, "editors": changed.editors}
            return act.model_copy(update={what: list(users) for what, users in names_of.items()})
        case "notified":
            return act.model_copy(update={"text": event.notified.text})
        case _:
            return act.model_copy(update={"text": event.ending.reason or None})


def _let_in(changed: pb.ReservationUsersChanged) -> list[str]:
    """Who was let in, each with the key: its name is what the person who gave it said, and may be another's."""
    if not changed.added_keys:
        # An event of an earlier version.
        return list(changed.added)
    return [f"{key.user} ({fingerprint_of(key)})" for key in changed.added_keys]


def fingerprint_of(key: SessionKey) -> str:
    """The fingerprint of a key as OpenSSH shows it; empty if it is no key."""
    try:
        return Key(key.user, key.public_key).fingerprint
    except (IndexError, ValueError):
        return ""


def quote_of(quote: pb.QuoteReservationResponse) -> schemas.ReservationQuote:
    """A quote."""
    return shown(
        schemas.ReservationQuote,
        quote,
        gpu_count=quote.gpus,
        machines=max(1, quote.machines),
        hours=_hours(quote.duration),
        price_per_gpu_hour=dollars_of(quote.price_micros_per_hour),
    )


def calendar_of(
    found: pb.GetCalendarResponse, names: Mapping[str, str], account_ids: Container[str]
) -> schemas.ReservationCalendar:
    """When each GPU is taken; reservations of other accounts have no name or owner."""
    return schemas.ReservationCalendar(entries=[_calendar_entry(one, names, account_ids) for one in found.entries])


def _calendar_entry(
    one: pb.CalendarEntry, names: Mapping[str, str], account_ids: Container[str]
) -> schemas.CalendarEntry:
    is_visible = one.account_id in account_ids
    return shown(
        schemas.CalendarEntry,
        one,
        gpu_count=one.gpus,
        start_time=instant_of(one.begin_time),
        reservation_id=one.reservation_id if is_visible else None,
        name=one.name if is_visible else None,
        owner=names.get(one.user_id, one.user_id) if is_visible else None,
    )


def availability_of(found: pb.GetAvailabilityResponse) -> schemas.Availability:
    """The machines and queue of each GPU type."""
    return schemas.Availability(gpu_types=[_gpu_availability_of(one) for one in found.gpu_types])


def _gpu_availability_of(one: pb.GpuAvailability) -> schemas.GpuAvailability:
    head = one.queue_head if one.HasField("queue_head") else None
    return shown(
        schemas.GpuAvailability,
        one,
        price_per_gpu_hour=dollars_of(one.price_micros_per_hour),
        waits=[shown(schemas.SizeWait, wait, gpu_count=wait.gpus) for wait in one.waits],
        queue_head=head and _queue_head_of(head),
    )


def _queue_head_of(head: pb.QueueHead) -> schemas.QueueHead:
    return shown(schemas.QueueHead, head, gpu_count=head.gpus, gpu_fraction=head.eighths / EIGHTHS_PER_GPU or None)


def frame_of(event: pb.ReservationEvent) -> Frame | None:
    """The frame for an event; None if it shows nothing, as for kinds that are newer than this gateway."""
    kind = event.WhichOneof("event") or ""
    plain = _PLAIN.get(kind)
    frame = frame_from(plain, getattr(event, kind)) if plain else _FRAMES.get(kind, _nothing)(event)
    if frame is None:
        return None
    common = {
        "reservation_id": event.reservation_id,
        "timestamp": milliseconds_of(event.time),
        "attempt": event.attempt,
        "cost_usd": dollars_of(event.cost_micros),
        **({"node": event.node} if event.node else {}),
    }
    return Frame(frame.status, {**common, **frame.fields})


def _nothing(_: pb.ReservationEvent) -> Frame | None:
    return None


def _no_show(event: pb.ReservationEvent) -> Frame:
    return frame_from(events.ReservationNoShowEvent, event.no_show, ends_at=text_of(event.no_show.end_time))


def _recalled(event: pb.ReservationEvent) -> Frame:
    end, queue = text_of(event.recalled.end_time), event.recalled.queue
    message = f"It is no longer ended for queue {queue}."
    if end:
        message = f"Queue {queue} needs its GPUs, which are above the quota of its own queue: it is ended at {end}."
    return frame_from(events.ReservationRecalledEvent, event.recalled, ends_at=end, message=message)


def _retrying(event: pb.ReservationEvent) -> Frame:
    place = dict.fromkeys(("position", "eta_p50", "eta_p90"))
    message = f"Back in the queue, through no fault of yours: {event.retrying.reason}"
    return Frame("QUEUED", {**place, "message": message})


def _extended(event: pb.ReservationEvent) -> Frame:
    extended = event.extended
    until, hours = text_of(extended.expire_time), _hours(extended.duration)
    return frame_from(events.ReservationExtendedEvent, extended, hours=hours, expires_at=until)


def _users_changed(event: pb.ReservationEvent) -> Frame:
    return frame_from(events.ReservationUsersChangedEvent, event.users_changed, added=_let_in(event.users_changed))


def _ending(event: pb.ReservationEvent) -> Frame:
    return frame_from(events.ReservationEndingEvent, event.ending, message=event.ending.reason)


def _active(event: pb.ReservationEvent) -> Frame:
    until, command = text_of(event.active.expire_time), _command(event.reservation_id)
    return frame_from(events.ReservationActiveEvent, event.active, expires_at=until, ssh_command=command)


def _ended(event: pb.ReservationEvent) -> Frame:
    fields = fields_of(events.ReservationEndedEvent, event.ended, final=True)
    return Frame(reservation_state_name(event.ended.state), fields)


def _preparing(event: pb.ReservationEvent) -> Frame:
    return Frame("PREPARING", provisioning_fields(event.provisioning))


def _snapshot(taken: SessionSnapshot) -> Frame:
    seconds = seconds_of(taken.duration)
    own = {} if taken.fault else {"time": text_of(taken.begin_time)}
    frame = frame_from(events.ReservationSnapshotEvent, taken, seconds=seconds, **own)
    said = ("reason", "seconds", "fault")
    return Frame(frame.status, {name: frame.fields[name] for name in said}) if taken.fault else frame


def _session_frame(event: pb.ReservationEvent) -> Frame | None:
    session = event.session
    kind = session.WhichOneof("event") or ""
    match kind:
        case "step":
            return frame_from(events.ReservationStepEvent, session.step, seconds=seconds_of(session.step.duration))
        case "out_of_memory":
            return frame_from(events.ReservationOomEvent, oom_count=session.out_of_memory.killed)
        case "snapshot":
            return _snapshot(session.snapshot)
        case "warning":
            warning = session.warning
            return (
                frame_from(events.ReservationWarningEvent, warning) if warning.minutes_left else Frame("EXPIRING", {})
            )
        case _ if kind in _AS_THEY_ARE:
            return Frame(kind.upper(), fields_of(_AS_THEY_ARE[kind], getattr(session, kind)))
        case _:
            # That it is ready is ACTIVE, and its end is the reservation's.
            return None


_AS_THEY_ARE: Mapping[str, Any] = {
    "login": events.ReservationLoginEvent,
    "logout": events.ReservationLoginEvent,
    "command_ended": events.ReservationCommandEndedEvent,
    "disk": events.ReservationDiskEvent,
    "fetching": events.ReservationProgressEvent,
    "building": events.ReservationBuildingEvent,
    "restoring": events.ReservationProgressEvent,
}
"""Events of sessions that are shown as they are, under their own names."""
_PLAIN: Mapping[str, Any] = {
    "pending": events.ReservationPendingEvent,
    "queued": events.ReservationQueuedEvent,
    "notified": events.ReservationNotifiedEvent,
}
"""Events that are shown as they are."""
_FRAMES: Mapping[str, Callable[[pb.ReservationEvent], Frame | None]] = {
    "no_show": _no_show,
    "recalled": _recalled,
    "provisioning": _preparing,
    "session": _session_frame,
    "retrying": _retrying,
    "extended": _extended,
    "users_changed": _users_changed,
    "ending": _ending,
    "active": _active,
    "ended": _ended,
}


def _command(reservation_id: str) -> str:
    return f"wavepool connect {reservation_id}"


def _hours(duration: Duration) -> float:
    return seconds_of(duration) / SECONDS_PER_HOUR


def usage_of(answer: pb.GetReservationUsageResponse, names: Mapping[str, str]) -> schemas.ReservationUsage:
    """GPU hours by day and user."""
    return schemas.ReservationUsage(
        usage=[
            shown(
                schemas.UsageOfDay,
                one,
                day=one.day.ToDatetime().date(),
                user=names.get(one.user_id, one.user_id),
                gpu_hours=round(one.gpu_time.ToTimedelta() / timedelta(hours=1), 4),
            )
            for one in answer.usage
        ]
    )
