"""Conversion of requests about sessions from protos. All faults of a request are found here and reported together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Address

from wavepool.executor.v1 import session_pb2

from servicekit.records import record_of
from services.executor.disks.snapshot import DiskOwner
from services.executor.images.builder import BuildContext
from services.executor.leases.authentication import Caller
from services.executor.leases.errors import InvalidFieldError
from services.executor.leases.lease import Lease
from services.executor.sessions.gang.gang import Gang, Node, gang_faults
from services.executor.sessions.homes.kept_home import DiskSpec
from services.executor.sessions.session import SessionSpec
from services.executor.wire.requests import Violations, instant, slot_from_proto, slot_violations, token_violations
from vocabulary.build_contexts import context_digest
from vocabulary.image_references import image_reference, wrong_reference
from vocabulary.slots import EIGHTHS_PER_GPU
from vocabulary.ssh_keys import Key, keys_of

MAX_SESSION_ID_CHARACTERS = 128
GRACE = timedelta(seconds=120)
LONGEST_GRACE = timedelta(hours=1)
MAX_VARIABLES = 64
MAX_VALUE_CHARACTERS = 4096
MAX_TEXT_CHARACTERS = 2000
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_OURS = frozenset({"HOME", "LOGNAME", "SHELL", "USER", "WAVEPOOL_USER"})
_HOME = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class SessionDecoder:
    """Turns requests into session specs for this machine."""

    capacity_eighths: int

    def decode(self, request: session_pb2.OpenSessionRequest, caller: Caller) -> SessionSpec:
        """Return the requested session; raises InvalidFieldError."""
        keys, violations = keys_of(_pairs(request.keys), "keys")
        violations = [*_name_violations(request), *token_violations(request.fencing_token, caller), *violations]
        violations += [*self._slot_violations(request), *_time_violations(request)]
        violations += [*_variable_violations(request.environment), *_home_violations(request.home)]
        violations += [*_disk_violations(request), *_gang_violations(request)]
        violations += _image_violations(request)
        if violations:
            raise InvalidFieldError(*violations)
        slots = tuple(slot_from_proto(slot) for slot in request.slots)
        return SessionSpec(
            session_id=request.session_id,
            lease=Lease(request.fencing_token, None, sum(slot.eighths for slot in slots), slots),
            keys=keys,
            end_time=instant(request.end_time),
            grace=request.grace.ToTimedelta() if request.HasField("grace") else GRACE,
            environment=dict(request.environment),
            home=request.home,
            disk=_disk_of(request.disk) if request.HasField("disk") else None,
            gang=_gang_of(request.gang) if request.HasField("gang") else None,
            image=image_reference(request.image) if request.image else None,
            build=BuildContext(request.build_digest, request.build_context) if request.build_digest else None,
            preserve_entrypoint=request.preserve_entrypoint,
            lasts=request.lasts.ToTimedelta(),
            request_id=request.request_id,
        )

    def _slot_violations(self, request: session_pb2.OpenSessionRequest) -> Violations:
        if not request.slots:
            return [("slots", "is empty; give the lease's slots")]
        if violations := slot_violations(request.slots, self.capacity_eighths):
            return violations
        return [
            (f"slots[{number}].eighths", f"is {slot.eighths}; a session takes whole GPUs: {EIGHTHS_PER_GPU}")
            for number, slot in enumerate(request.slots)
            if slot.eighths != EIGHTHS_PER_GPU
        ]


def new_keys(request: session_pb2.UpdateSessionRequest) -> tuple[Key, ...] | None:
    """Return the keys to replace a session's with; None if they stay. Raises InvalidFieldError."""
    if not request.HasField("keys"):
        return None
    keys, violations = keys_of(_pairs(request.keys.keys), "keys.keys")
    if violations:
        raise InvalidFieldError(*violations)
    return keys


def text_of(request: session_pb2.NotifyRequest) -> str:
    """Return the text for a session's terminals; raises InvalidFieldError."""
    if not 0 < len(request.text) <= MAX_TEXT_CHARACTERS:
        fault = f"has {len(request.text)} characters; it must have 1 to {MAX_TEXT_CHARACTERS}"
        raise InvalidFieldError(("text", fault))
    if found := _CONTROL.search(re.sub(r"[\n\t]", "", request.text)):
        fault = f"has the control character {found[0]!r}; only line breaks and tabs are allowed"
        raise InvalidFieldError(("text", fault))
    return request.text


def grace_of(request: session_pb2.CloseSessionRequest) -> timedelta:
    """Return the time until a session's processes are killed; raises InvalidFieldError."""
    grace = request.grace.ToTimedelta()
    if grace < timedelta(0):
        raise InvalidFieldError(("grace", f"is {grace.total_seconds():g} s; it must not be negative"))
    return grace


def _pairs(keys: Iterable[session_pb2.SessionKey]) -> list[tuple[str, str]]:
    return [(key.user, key.public_key) for key in keys]


def _name_violations(request: session_pb2.OpenSessionRequest) -> Violations:
    violations: Violations = []
    if not 0 < len(request.session_id) <= MAX_SESSION_ID_CHARACTERS:
        violations.append(("session_id", f"must have 1 to {MAX_SESSION_ID_CHARACTERS} characters"))
    if request.after_seq < 0:
        violations.append(("after_seq", "must be 0 or the number of the last event that was seen"))
    return violations


def _time_violations(request: session_pb2.OpenSessionRequest) -> Violations:
    violations: Violations = []
    if not request.HasField("end_time"):
        violations.append(("end_time", "is missing; send the instant at which the session ends"))
    lasts = request.lasts.ToTimedelta()
    if lasts < timedelta(0):
        violations.append(("lasts", f"is {lasts.total_seconds():g} s; it must not be negative"))
    grace = request.grace.ToTimedelta()
    if not timedelta(0) <= grace <= LONGEST_GRACE:
        most = f"{LONGEST_GRACE.total_seconds():.0f} s"
        violations.append(("grace", f"is {grace.total_seconds():g} s; it must be from 0 s to {most}"))
    return violations


def _variable_violations(environment: Mapping[str, str]) -> Violations:
    if len(environment) > MAX_VARIABLES:
        return [("environment", f"has {len(environment)} variables; a session takes at most {MAX_VARIABLES}")]
    violations: Violations = []
    for name, value in environment.items():
        field = f"environment[{name[:80]!r}]"
        if not _VARIABLE.fullmatch(name):
            violations.append((field, "is no name of a variable: letters, digits and _, not beginning with a digit"))
        elif name in _OURS:
            violations.append((field, "is set by the session itself; leave it out"))
        if len(value) > MAX_VALUE_CHARACTERS or _CONTROL.search(value):
            fault = f"must have a value of at most {MAX_VALUE_CHARACTERS} characters without line breaks"
            violations.append((field, fault))
    return violations


def _disk_of(disk: session_pb2.KeptDisk) -> DiskSpec:
    return record_of(DiskSpec, disk, owner=DiskOwner(disk.owner_id, disk.password))


def _disk_violations(request: session_pb2.OpenSessionRequest) -> Violations:
    if not request.HasField("disk"):
        return []
    disk = request.disk
    violations: Violations = []
    if request.home:
        violations.append(("home", "must be empty for a session with a disk, which is its home"))
    violations += [
        (f"disk.{name}", f"must have 1 to {MAX_SESSION_ID_CHARACTERS} characters")
        for name, value in (("disk_id", disk.disk_id), ("owner_id", disk.owner_id), ("password", disk.password))
        if not 0 < len(value) <= MAX_SESSION_ID_CHARACTERS
    ]
    if len(disk.name) > MAX_SESSION_ID_CHARACTERS or _CONTROL.search(disk.name):
        violations.append(("disk.name", f"must have at most {MAX_SESSION_ID_CHARACTERS} characters, none a control"))
    if disk.snapshot_id and not disk.store_id:
        violations.append(("disk.store_id", "is empty; name the place that has the snapshot"))
    if disk.size_limit_bytes < 1:
        violations.append(("disk.size_limit_bytes", f"is {disk.size_limit_bytes}; it must be at least 1"))
    return violations


def _gang_of(gang: session_pb2.Gang) -> Gang:
    nodes = tuple(Node(node.name, IPv4Address(node.address)) for node in gang.nodes)
    return Gang(gang.gang_id, gang.rank, nodes, gang.ssh_seed)


def _gang_violations(request: session_pb2.OpenSessionRequest) -> Violations:
    if not request.HasField("gang"):
        return []
    gang = request.gang
    violations: Violations = []
    if not 0 < len(gang.gang_id) <= MAX_SESSION_ID_CHARACTERS:
        violations.append(("gang.gang_id", f"must have 1 to {MAX_SESSION_ID_CHARACTERS} characters"))
    nodes = [(node.name, node.address) for node in gang.nodes]
    faults = gang_faults(gang.rank, nodes, gang.ssh_seed)
    return [*violations, *((f"gang.{field}", fault) for field, fault in faults)]


def _image_violations(request: session_pb2.OpenSessionRequest) -> Violations:
    violations: Violations = []
    if request.image and (fault := wrong_reference(request.image)):
        violations.append(("image", fault))
    if request.image and request.build_digest:
        violations.append(("build_digest", "is set together with an image; leave one of them out"))
    if request.preserve_entrypoint and not (request.image or request.build_digest):
        violations.append(("preserve_entrypoint", "is set without an image; name one, or leave it out"))
    # Who attaches need not send it again.
    if request.build_digest and not request.after_seq and context_digest(request.build_context) != request.build_digest:
        violations.append(("build_context", f"is no archive with the digest {request.build_digest[:80]!r}"))
    return violations


def _home_violations(home: str) -> Violations:
    if not home or _HOME.fullmatch(home):
        return []
    rule = "must have 1 to 128 lower case letters, digits, or any of . _ -, and begin with a letter or digit"
    return [("home", f"is {home[:80]!r}; it {rule}, or be empty for a home that is removed at the end")]
