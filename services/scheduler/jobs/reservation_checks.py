"""Checks whether a request may become a reservation, or change one; pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wavepool.executor.v1.session_pb2 import SessionKey
from wavepool.scheduler.v1 import reservations_pb2
from wavepool.submission.v1.submission_pb2 import Submission

from services.scheduler.jobs.errors import InvalidFieldError, InvalidRequestError
from services.scheduler.jobs.gpu_choice import wanted_gpu_type, wrong_gpu_types
from services.scheduler.jobs.reservation import GRACE, Editor, Reservation
from services.scheduler.jobs.resources import LEGAL_GPUS, Resources
from services.scheduler.jobs.spec import JobSpec
from services.scheduler.jobs.submission_checks import wrong_caller, wrong_priority
from submissions.checks import Violations
from vocabulary.build_contexts import is_context_digest
from vocabulary.counts import counted
from vocabulary.image_references import image_reference, wrong_reference
from vocabulary.names import known_name
from vocabulary.slots import EIGHTHS_PER_GPU
from vocabulary.ssh_keys import Key, keys_of

_NAME = re.compile(r"[a-z](-?[a-z0-9])*")
_MOST_NAME = 63
_HOST_PREFIX, _LEAST_OF_ID = "wp-", 8
_MINUTE, _HOUR = 60, 3600
IMAGE_REGISTRIES = "EXECUTOR_IMAGE_REGISTRIES"
GPUS_OF_A_MACHINE = LEGAL_GPUS[-1]
MOST_MACHINES = 6
GANG_GPUS = tuple(GPUS_OF_A_MACHINE * machines for machines in range(2, MOST_MACHINES + 1))
_GANG_TEXT = f"{', '.join(map(str, GANG_GPUS[:-1]))} or {GANG_GPUS[-1]}"
NO_LINKS = (
    "no provider promises a fast link between the machines: traffic between them goes over plain TCP, far slower than "
    "between the GPUs of one machine. Give --allow-slow-links to accept that"
)
NO_NETWORK = (
    "needs machines that reach one another, and the operator has named no network of this pool in which they do "
    "(VMPOOL_MACHINE_NETWORK). Take at most the GPUs of one machine, or ask the operator"
)
_NAME_RULE = (
    "must have 1 to 63 lower case letters, digits and single hyphens, begin with a letter and not end with a hyphen"
)


@dataclass(frozen=True)
class Maintenance:
    """Why a GPU type cannot be reserved now, in the operator's words, and the ids of users who may nevertheless."""

    reason: str
    users: tuple[str, ...] = ()
    until: datetime | None = None
    """When it ends by itself; None: when somebody ends it."""

    @property
    def text(self) -> str:
        """The reason, and the end."""
        reason = self.reason.strip().rstrip(".")
        return f"{reason} (until {self.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC)" if self.until else reason


@dataclass(frozen=True)
class ReservationLimits:
    """How long a reservation may be: at least and at most when it is made, and at most with all its extensions.

    It waits in the queue for `longest_wait` at most. `maintenance` has the GPU types that are in maintenance.
    """

    least: timedelta
    most: timedelta
    most_in_all: timedelta
    longest_wait: timedelta
    maintenance: Mapping[str, Maintenance] = field(default_factory=dict[str, Maintenance])


def admit_reservation(
    asked: reservations_pb2.ReservationSpec,
    gpu_types: Sequence[str],
    limits: ReservationLimits,
    wrong: Violations,
    *,
    needs_keys: bool = True,
) -> tuple[JobSpec, Reservation]:
    """The spec and the reservation of a request, without its queue; a name that is left out is the GPU type's.

    `gpu_types` are the types that can be asked for, the default one first. Raises InvalidRequestError with all faults
    at once, those of `wrong` among them.
    """
    wanted = wanted_gpu_type(asked.gpu_type, gpu_types)
    wrong = [*wrong, *wrong_gpu_types(asked.gpu_type, asked.fallback_gpu_types, gpu_types)]
    wrong += wrong_priority(asked.priority) + (_wrong_gang(asked) if asked.distributed else _wrong_gpus(asked, wanted))
    duration, wrong_duration = _duration_of(asked.duration.seconds, limits.least, limits.most)
    wrong += [("spec.duration", wrong_duration)] if wrong_duration else []
    name = asked.name or _name_of(wanted or "")
    wrong += [("spec.name", fault)] if (fault := wrong_name(name)) else []
    wrong += _wrong_image(asked)
    keys: tuple[Key, ...] = ()
    if asked.keys or needs_keys:
        keys, wrong_keys = keys_of(_pairs(asked.keys), "spec.keys")
        wrong += wrong_keys
    if wrong:
        raise InvalidRequestError(wrong)
    spec = JobSpec(
        submission=Submission(),
        gpu_type=wanted,
        priority=asked.priority,
        fallback_gpu_types=tuple(known_name(one, gpu_types) for one in asked.fallback_gpu_types),
        time_limit_seconds=int((duration + GRACE).total_seconds()),
        resources=Resources(EIGHTHS_PER_GPU * min(asked.gpus or 1, GPUS_OF_A_MACHINE)),
        machines=max(1, asked.gpus // GPUS_OF_A_MACHINE),
    )
    reservation = Reservation(
        name,
        keys,
        duration,
        image=asked.image,
        build_digest=asked.build_digest,
        preserve_entrypoint=asked.preserve_entrypoint,
    )
    return spec, reservation


def wrong_reserver(request: reservations_pb2.CreateReservationRequest) -> Violations:
    """What is wrong with the account and the key of a request."""
    return wrong_caller(request.account_id, request.idempotency_key)


def wrong_name(name: str) -> str:
    """What is wrong with a name, with the rule; else empty."""
    if len(name) <= _MOST_NAME and _NAME.fullmatch(name):
        return ""
    return f"is {name[:80]!r}; it {_NAME_RULE}"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or with a number if one of the user's reservations has it: `train`, `train-2`, `train-3`."""
    if name not in taken:
        return name
    number = 2
    while (numbered := f"{name[: _MOST_NAME - 1 - len(str(number))].rstrip('-')}-{number}") in taken:
        number += 1
    return numbered


def extension_of(seconds: int, reservation: Reservation, limits: ReservationLimits) -> timedelta:
    """The time to add; raises InvalidFieldError."""
    left = limits.most_in_all - reservation.total
    if left < timedelta(minutes=1):
        fault = f"cannot be added: with its extensions it has {length_text(reservation.total)}, which is its limit"
        raise InvalidFieldError("duration", fault)
    duration, fault = _duration_of(seconds, timedelta(minutes=1), left)
    if fault:
        in_all = f", as {length_text(limits.most_in_all)} in all is the most"
        raise InvalidFieldError("duration", fault + (in_all if duration > left else ""))
    return duration


def node_of(host: str) -> tuple[str, int]:
    """A host's name without the rank of a machine at its end, and that rank: `wp-7k3m9q2x-1` is machine 1."""
    name, hyphen, rank = host.rpartition("-")
    is_node = hyphen and len(rank) == 1 and rank.isdecimal() and name.lower() != _HOST_PREFIX.rstrip("-")
    return (name, int(rank)) if is_node else (host, 0)


def is_named(job_id: str, host: str) -> bool:
    """True if a host's name is that of the reservation: its id, or `wp-` and a beginning or end of that.

    Not its name: another person could give that to a reservation with your key, and have you log in there.
    """
    if host == job_id:
        return True
    wanted = host.lower().removeprefix(_HOST_PREFIX)
    own = job_id.lower().rpartition("_")[2]
    is_part = own.startswith(wanted) or own.endswith(wanted)
    return host.lower().startswith(_HOST_PREFIX) and len(wanted) >= _LEAST_OF_ID and is_part


def changed_users(reservation: Reservation, asked: reservations_pb2.UpdateReservationRequest) -> Reservation:
    """The reservation with other people who may log in or change it; raises InvalidRequestError."""
    changed = _changed_keys(reservation, asked.add_keys, asked.remove_users)
    if unknown := [one.user for one in asked.add_editors if one.user not in changed.users or not one.user_id]:
        fault = f"{unknown[0][:80]!r} is no user with a key here; add one by the name that they have in Wavepool"
        raise InvalidFieldError("add_editors", fault)
    return changed.with_editors(Editor(one.user, one.user_id) for one in asked.add_editors)


def _changed_keys(reservation: Reservation, added: Sequence[SessionKey], removed: Iterable[str]) -> Reservation:
    """The reservation with other keys; raises InvalidRequestError with all faults at once."""
    wrong: Violations = []
    keys: tuple[Key, ...] = ()
    if added:
        keys, wrong = keys_of(_pairs(added), "add_keys")
    unknown = [user for user in removed if user not in reservation.users]
    if unknown:
        has = ", ".join(reservation.users)
        wrong.append(("remove_users", f"{unknown[0][:80]!r} has no key here; those who have are {has}"))
    if wrong:
        raise InvalidRequestError(wrong)
    changed = reservation.with_keys(keys, removed)
    _, wrong = keys_of([(key.user, key.line) for key in changed.keys], "add_keys")
    if not changed.keys:
        wrong = [("remove_users", "would leave no user who may log in; add a key, or cancel the reservation")]
    if wrong:
        raise InvalidRequestError(wrong)
    return changed


def reservation_fingerprint(asked: reservations_pb2.ReservationSpec) -> str:
    """Hash that tells apart two reservations with the same idempotency key."""
    # Not the keys: those that were looked up may be others in a repeated call.
    counted = type(asked)()
    counted.CopyFrom(asked)
    counted.ClearField("keys")
    return hashlib.sha256(b"reservation " + counted.SerializeToString(deterministic=True)).hexdigest()


def _name_of(gpu_type: str) -> str:
    """A name for a reservation of the type, whatever the operator calls it."""
    name = re.sub(r"[^a-z0-9]", "", gpu_type.lower())[:_MOST_NAME]
    return name if _NAME.fullmatch(name) else f"gpu{name}"[:_MOST_NAME]


def wrong_machines(machines: int, most: int, network: str) -> Violations:
    """What is wrong with so many machines, if the pool may have `most` at a time; 0 if that is not known.

    They reach one another in `network`; if it is empty they do not.
    """
    if machines == 1 or not most:
        return []
    if not network:
        return [("spec.distributed", NO_NETWORK)]
    if machines <= most:
        return []
    may_have = f"the pool may have {most} machine{'s' if most > 1 else ''} (VMPOOL_MAX_MACHINES)"
    gpus = machines * GPUS_OF_A_MACHINE
    return [("spec.gpus", f"is {gpus}, which takes {machines} machines; {may_have}")]


def maintenance_of(gpu_type: str, maintenance: Mapping[str, Maintenance]) -> Maintenance | None:
    """The maintenance that a type is in, whatever the case of its name; None if it is in none."""
    return maintenance.get(known_name(gpu_type, maintenance))


def in_maintenance(gpu_types: Sequence[str], user_id: str, maintenance: Mapping[str, Maintenance]) -> Violations:
    """The types that the user may not reserve now; the first is the wanted one, and the others are its fallbacks."""
    wrong: Violations = []
    for at, gpu_type in enumerate(gpu_types):
        found = maintenance_of(gpu_type, maintenance)
        if found and user_id not in found.users:
            fix = "reserve another type, or ask the operator"
            place = "spec.fallback_gpu_types" if at else "spec.gpu_type"
            wrong.append((place, f"{gpu_type} is in maintenance: {found.text}; {fix}"))
    return wrong


def wrong_size(gpus: int, machines: int, largest: int) -> Violations:
    """What is wrong with so many GPUs of each machine, if the largest has, or would have, `largest`; 0 if unknown."""
    if not largest or gpus <= largest:
        return []
    whole = f", which takes machines of {gpus}" if machines > 1 else ""
    at_most = f"no machine has more than {largest}, and the pool starts none with more (VMPOOL_GPUS_PER_MACHINE)"
    return [("spec.gpus", f"is {gpus * machines}{whole}; {at_most}")]


def wrong_source(reservation: Reservation, sources: Sequence[Sequence[str] | None]) -> Violations:
    """What is wrong with its image if no machine may get it.

    `sources` are the registries of each machine that might have it, None of one that does not say.
    """
    if not reservation.has_image or not sources or None in sources:
        return []
    known = sorted({registry for one in sources for registry in one or ()})
    if not known:
        return [(_image_field(reservation), f"is set, and no machine here takes images ({IMAGE_REGISTRIES})")]
    registry = image_reference(reservation.image).registry if reservation.image else known[0]
    if registry in known:
        return []
    fault = f"comes from {registry}, and the machines here take images from {', '.join(known)} ({IMAGE_REGISTRIES})"
    return [(_image_field(reservation), fault)]


def _image_field(reservation: Reservation) -> str:
    return "spec.image" if reservation.image else "spec.build_digest"


def wrong_length(reservation: Reservation, longest_time: timedelta | None, setting: str) -> Violations:
    """What is wrong with its time, if it can have a machine for `longest_time` at most; None for no limit."""
    if longest_time is None or reservation.longest_lease <= longest_time:
        return []
    most = longest_time - (reservation.longest_lease - reservation.total)
    at_most = f"the most is {length_text(most)}" if most > timedelta(0) else "there is no time at all"
    why = f"the machines that the pool starts do not live longer ({setting})"
    return [("spec.duration", f"is {length_text(reservation.total)}; {at_most}, as {why}")]


def _wrong_gpus(asked: reservations_pb2.ReservationSpec, gpu_type: str | None) -> Violations:
    gpus = asked.gpus
    if not gpus or gpus in LEGAL_GPUS:
        return []
    legal = ", ".join(map(str, LEGAL_GPUS))
    if gpus > GPUS_OF_A_MACHINE:
        of_one = f"a machine has at most {GPUS_OF_A_MACHINE} {gpu_type or 'GPUs'}"
        if gpus not in GANG_GPUS:
            return [("spec.gpus", f"is {gpus}; {of_one}. Give one of {legal}, or with --distributed {_GANG_TEXT}")]
        machines = gpus // GPUS_OF_A_MACHINE
        return [("spec.gpus", f"{of_one}; for {gpus} give --distributed ({machines} machines x {GPUS_OF_A_MACHINE})")]
    return [("spec.gpus", f"is {gpus}; it must be one of {legal}")]


def _wrong_image(asked: reservations_pb2.ReservationSpec) -> Violations:
    wrong: Violations = []
    if asked.image and (fault := wrong_reference(asked.image)):
        wrong.append(("spec.image", fault))
    if asked.build_digest and not is_context_digest(asked.build_digest):
        wrong.append(
            (
                "spec.build_digest",
                f"is {asked.build_digest[:80]!r}; give the digest that the upload of the folder returned",
            )
        )
    if asked.build_digest and asked.image:
        wrong.append(("spec.build_digest", "is set together with an image; leave one of them out"))
    if asked.preserve_entrypoint and not (asked.image or asked.build_digest):
        wrong.append(("spec.preserve_entrypoint", "is set without an image; name one, or leave it out"))
    return wrong


def _wrong_gang(asked: reservations_pb2.ReservationSpec) -> Violations:
    """What is wrong with a request for several machines."""
    if asked.gpus <= GPUS_OF_A_MACHINE:
        fault = f"is for several machines: leave it out for {asked.gpus or 1}, or give {_GANG_TEXT} GPUs"
        return [("spec.distributed", fault)]
    wrong: Violations = []
    if asked.gpus not in GANG_GPUS:
        whole = f"several machines are whole ones of {GPUS_OF_A_MACHINE}"
        wrong.append(("spec.gpus", f"is {asked.gpus}; {whole}: give {_GANG_TEXT}"))
    if not asked.allow_slow_links:
        wrong.append(("spec.distributed", NO_LINKS))
    return wrong


def _duration_of(seconds: int, least: timedelta, most: timedelta) -> tuple[timedelta, str]:
    """The time, and what is wrong with it. Fractions of a second do not count."""
    # Protos can have more seconds than a timedelta.
    bound = 2 * _HOUR * 24 * 365
    duration = timedelta(seconds=min(bound, max(-bound, seconds)))
    if duration < least:
        return duration, f"is {length_text(duration)}; the least is {length_text(least)}"
    if duration > most:
        return duration, f"is {length_text(duration)}; the most is {length_text(most)}"
    return duration, ""


def length_text(duration: timedelta) -> str:
    """Time for people, such as `1 minute`, `36 s` or `24 h`."""
    seconds = duration.total_seconds()
    if seconds < _MINUTE:
        return f"{seconds:g} s"
    if seconds < _HOUR:
        return counted(round(seconds / _MINUTE, 1), "minute")
    return f"{round(seconds / _HOUR, 2):g} h"


def _pairs(keys: Iterable[SessionKey]) -> list[tuple[str, str]]:
    return [(key.user, key.public_key) for key in keys]
