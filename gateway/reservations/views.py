"""Reservations and their events as JSON; pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1.session_pb2 import SessionEvent, SessionKey, SessionSnapshot
from wavepool.scheduler.v1 import reservations_pb2 as pb

from gateway.reservations import schemas
from gateway.submissions.frames import provisioning_fields
from gateway.submissions.run_frames import Frame
from gateway.words.enum_names import reservation_state_name, snapshot_reason_name
from gateway.words.proto_time import instant_of, milliseconds_of, seconds_of
from gateway.words.shown import shown
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
        name=spec.name,
        owner=names.get(reservation.user_id, reservation.user_id),
        owner_id=reservation.user_id,
        state=reservation_state_name(reservation.state).lower(),
        gpu_type=spec.gpu_type,
        gpu_count=spec.gpus or 1,
        nodes=[_node_of(one) for one in reservation.nodes],
        hours=_hours(spec.duration),
        queue=spec.queue,
        priority=spec.priority,
        fallback_gpu_types=list(spec.fallback_gpu_types),
        start_time=instant_of(spec.start_time),
        launched_at=instant_of(reservation.launch_time),
        active_at=instant_of(reservation.active_time),
        expires_at=expires_at,
        time_left_seconds=left,
        disk_name=spec.disk or None,
        image=spec.image or None,
        build_digest=spec.build_digest or None,
        preserve_entrypoint=spec.preserve_entrypoint,
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
        last_login_at=instant_of(reservation.last_login_time),
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


def _node_of(node: pb.ReservationNode) -> schemas.Node:
    state = reservation_state_name(node.state).lower()
    return shown(schemas.Node, node, state=state, ready_at=instant_of(node.ready_time))


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
        state=reservation_state_name(one.state).lower(),
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
    frame = _FRAMES.get(event.WhichOneof("event") or "", _nothing)(event)
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


def _queued(event: pb.ReservationEvent) -> Frame:
    queued = event.queued
    fields: dict[str, Any] = {
        "position": queued.position or None,
        "eta_p50": seconds_of(queued.eta_p50) if queued.HasField("eta_p50") else None,
        "eta_p90": seconds_of(queued.eta_p90) if queued.HasField("eta_p90") else None,
        "message": queued.message,
    }
    return Frame("QUEUED", fields)


def _pending(event: pb.ReservationEvent) -> Frame:
    return Frame("PENDING", {"start_time": _text(instant_of(event.pending.start_time))})


def _no_show(event: pb.ReservationEvent) -> Frame:
    return Frame("NO_SHOW", {"ends_at": _text(instant_of(event.no_show.end_time))})


def _recalled(event: pb.ReservationEvent) -> Frame:
    end, queue = _text(instant_of(event.recalled.end_time)), event.recalled.queue
    message = f"It is no longer ended for queue {queue}."
    if end:
        message = f"Queue {queue} needs its GPUs, which are above the quota of its own queue: it is ended at {end}."
    return Frame("RECALLED", {"queue": queue, "ends_at": end, "message": message})


def _retrying(event: pb.ReservationEvent) -> Frame:
    place = {"position": None, "eta_p50": None, "eta_p90": None}
    message = f"Back in the queue, through no fault of yours: {event.retrying.reason}"
    return Frame("QUEUED", {**place, "message": message})


def _extended(event: pb.ReservationEvent) -> Frame:
    extended = event.extended
    fields = {
        "hours": _hours(extended.duration),
        "expires_at": _text(instant_of(extended.expire_time)),
        "user_id": extended.user_id,
    }
    return Frame("EXTENDED", fields)


def _users_changed(event: pb.ReservationEvent) -> Frame:
    changed = event.users_changed
    fields = {
        "users": list(changed.users),
        "added": _let_in(changed),
        "removed": list(changed.removed),
        "editors": list(changed.editors),
        "user_id": changed.user_id,
    }
    return Frame("USERS_CHANGED", fields)


def _notified(event: pb.ReservationEvent) -> Frame:
    notified = event.notified
    return Frame("NOTIFIED", {"text": notified.text, "terminals": notified.terminals, "user_id": notified.user_id})


def _ending(event: pb.ReservationEvent) -> Frame:
    return Frame("ENDING", {"message": event.ending.reason, "user_id": event.ending.user_id})


def _active(event: pb.ReservationEvent) -> Frame:
    active = event.active
    fields = {
        "expires_at": _text(instant_of(active.expire_time)),
        "host_key": active.host_key,
        "login_user": active.login_user,
        "gaps": list(active.gaps),
        "ssh_command": _command(event.reservation_id),
    }
    return Frame("ACTIVE", fields)


def _ended(event: pb.ReservationEvent) -> Frame:
    ended = event.ended
    fields = {"message": ended.message, "cost_usd": dollars_of(ended.cost_micros), "final": True}
    return Frame(reservation_state_name(ended.state), fields)


def _preparing(event: pb.ReservationEvent) -> Frame:
    return Frame("PREPARING", provisioning_fields(event.provisioning))


def _disk_frame(session: SessionEvent) -> Frame:
    if session.HasField("disk"):
        return Frame("DISK", {"used_bytes": session.disk.used_bytes, "share_bytes": session.disk.share_bytes})
    if session.HasField("fetching"):
        return Frame("FETCHING", {"percent": session.fetching.percent})
    if session.HasField("building"):
        return Frame("BUILDING", {"text": session.building.text})
    if session.HasField("restoring"):
        return Frame("RESTORING", {"percent": session.restoring.percent})
    return Frame("SNAPSHOT", _snapshot_fields(session.snapshot))


def _snapshot_fields(taken: SessionSnapshot) -> dict[str, Any]:
    reason = snapshot_reason_name(taken.reason).lower()
    fields: dict[str, Any] = {"reason": reason, "seconds": seconds_of(taken.duration), "fault": taken.fault or None}
    if taken.fault:
        return fields
    return {
        **fields,
        "time": _text(instant_of(taken.begin_time)),
        "size_bytes": taken.size_bytes,
        "files": taken.files,
        "skipped": taken.skipped,
        "is_unchanged": taken.is_unchanged,
    }


def _trouble_frame(session: SessionEvent) -> Frame:
    if session.HasField("command_ended"):
        return Frame("COMMAND_ENDED", {"exit_status": session.command_ended.exit_status})
    return Frame("OOM", {"oom_count": session.out_of_memory.killed})


def _session_frame(event: pb.ReservationEvent) -> Frame | None:
    session = event.session
    match session.WhichOneof("event"):
        case "step":
            return Frame("STEP", {"name": session.step.name, "seconds": seconds_of(session.step.duration)})
        case "login" | "logout" as kind:
            login = session.login if kind == "login" else session.logout
            return Frame(
                kind.upper(),
                {"connection": login.connection, "user": login.user, "fingerprint": login.fingerprint},
            )
        case "out_of_memory" | "command_ended":
            return _trouble_frame(session)
        case "disk" | "fetching" | "building" | "restoring" | "snapshot":
            return _disk_frame(session)
        case "warning":
            minutes = session.warning.minutes_left
            return Frame("WARNING", {"minutes_left": minutes}) if minutes else Frame("EXPIRING", {})
        case _:
            # That it is ready is ACTIVE, and its end is the reservation's.
            return None


_FRAMES: Mapping[str, Callable[[pb.ReservationEvent], Frame | None]] = {
    "pending": _pending,
    "no_show": _no_show,
    "recalled": _recalled,
    "queued": _queued,
    "provisioning": _preparing,
    "session": _session_frame,
    "retrying": _retrying,
    "extended": _extended,
    "users_changed": _users_changed,
    "notified": _notified,
    "ending": _ending,
    "active": _active,
    "ended": _ended,
}


def _command(reservation_id: str) -> str:
    return f"wavepool connect {reservation_id}"


def _hours(duration: Duration) -> float:
    return seconds_of(duration) / SECONDS_PER_HOUR


def _text(instant: datetime | None) -> str | None:
    return instant.isoformat().replace("+00:00", "Z") if instant else None


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
