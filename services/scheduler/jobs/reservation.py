"""A reservation: a job that runs a session, with a time that begins when people can log in; pure.

It waits, holds its lease and ends as every job does, so its state is that of its job, and says more while the job runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from wavepool.executor.v1.session_pb2 import SessionEvent, SessionSnapshot

from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from vocabulary.ssh_keys import Key

GRACE = timedelta(seconds=120)
"""Longest time after the end of a reservation in which its session still lives: so much is left free behind it."""
SILENCE_AFTER_END = timedelta(minutes=10)
"""A machine that has not told the end of a session so long after it is lost."""
LONGEST_PREPARING = timedelta(hours=1)
"""Longest time between its GPUs and the first moment in which people can log in."""
PART = timedelta(minutes=1)
"""The time between two charges while a reservation goes on."""
_LATENCY = timedelta(minutes=1)
"""Less than this passes between the pool's look for a machine that lasts, and the attempt that renews its lease."""
_NOTHING = timedelta(0)


@dataclass(frozen=True)
class Extension:
    """Time that was added, when and by whom; `key` is the caller's, so that a repeated call adds nothing."""

    duration: timedelta
    time: datetime
    user_id: str
    key: str


@dataclass(frozen=True)
class Step:
    """A step of the start, and how long it took."""

    name: str
    duration: timedelta


@dataclass(frozen=True)
class Node:
    """The session on another machine of a reservation than the first; `seq` is that of its last event in the log."""

    machine_id: str
    gpus: tuple[int, ...]
    seq: int = 0
    ready_time: datetime | None = None
    host_key: str = ""
    login_user: str = ""
    gaps: tuple[str, ...] = ()
    out_of_memory_kills: int = 0
    connections: int = 0

    def after(self, event: SessionEvent) -> Node:
        """What it is after an event of its session; events that are unknown to us change nothing."""
        changes: dict[str, Any] = {}
        match event.WhichOneof("event"):
            case "ready":
                ready = event.ready
                changes = {"host_key": ready.host_key, "login_user": ready.user, "gaps": tuple(ready.gaps)}
                changes["ready_time"] = event.time.ToDatetime(UTC)
            case "login":
                changes = {"connections": self.connections + 1}
            case "logout":
                changes = {"connections": max(0, self.connections - 1)}
            case "out_of_memory":
                changes = {"out_of_memory_kills": event.out_of_memory.killed}
            case _:
                pass
        return replace(self, seq=event.seq, **changes)


@dataclass(frozen=True)
class ReservedDisk:
    """The disk that is a reservation's home. All that was written before `safe_time` is in its last snapshot.

    `fault` is why the last snapshot could not be taken; empty if it was.
    """

    disk_id: str
    name: str
    safe_time: datetime | None = None
    fault: str = ""

    @property
    def kept(self) -> str:
        """What is kept of it, as the end of a sentence that begins with its name."""
        return f"is kept as of {self.safe_time:%Y-%m-%d %H:%M:%S} UTC" if self.safe_time else "is as it was before"

    def after(self, snapshot: SessionSnapshot) -> ReservedDisk:
        """What it is after a snapshot was taken, or could not be."""
        if snapshot.fault:
            return replace(self, fault=snapshot.fault)
        return replace(self, safe_time=snapshot.begin_time.ToDatetime(UTC), fault="")


@dataclass(frozen=True)
class Editor:
    """A user who may change a reservation as its owner may, by the name of the user's keys in it."""

    user: str
    user_id: str


@dataclass(frozen=True)
class Recall:
    """Another queue needs the GPUs of a reservation, which is ended at `time` if the queue still waits."""

    queue: str
    time: datetime


@dataclass(frozen=True)
class Asked:
    """What people have asked for, and what became of that so far. It outlives attempts."""

    name: str
    keys: tuple[Key, ...]
    duration: timedelta
    """The time that was asked for, without extensions."""
    extensions: tuple[Extension, ...] = ()
    start_time: datetime | None = None
    """When its time begins, if it is dated; None if it begins as soon as there are GPUs. It ends at its start and its
    whole time, however late people can log in: others count on that."""
    is_due: bool = False
    """True once a dated one waits in the queue, as its start is near."""
    is_late: bool = False
    """True once its owner has heard that there were no GPUs for it at its start."""
    disk: ReservedDisk | None = None
    image: str = ""
    """The image whose files are its root; empty for the machine's own."""
    build_digest: str = ""
    """Of the archive that its image is built from; empty if none is built."""
    preserve_entrypoint: bool = False
    """True if the image's own command is started in its session."""
    editors: tuple[Editor, ...] = ()
    """Users whom its owner lets change it; each has a key."""
    instead_of: str = ""
    """The id of the lost reservation whose time it goes on with, ahead of others; empty if it waits for its turn."""
    end_reason: str = ""
    """Why it is ended before its time, in words for its owner; empty if its owner ends it, or nobody."""

    @property
    def has_image(self) -> bool:
        """True if its root is that of an image."""
        return bool(self.image or self.build_digest)

    @property
    def is_pending(self) -> bool:
        """True if it starts later, and does not wait in the queue yet."""
        return self.start_time is not None and not self.is_due

    @property
    def total(self) -> timedelta:
        """All time that it may have."""
        return sum((one.duration for one in self.extensions), self.duration)

    @property
    def users(self) -> tuple[str, ...]:
        """Who may log in, each once."""
        return tuple(dict.fromkeys(key.user for key in self.keys))

    @property
    def who(self) -> tuple[object, ...]:
        """Who may log in, with which keys, and who may change it."""
        return self.keys, self.editors

    def extension(self, key: str) -> Extension | None:
        """The extension that a call with this key made; None if there was none."""
        return next((one for one in self.extensions if one.key == key), None)

    def with_keys(self, added: Iterable[Key], removed: Iterable[str]) -> Self:
        """Lets others log in, and users who are removed no more; these may not change it any more, either."""
        gone = frozenset(removed)
        kept = [key for key in self.keys if key.user not in gone]
        editors = tuple(one for one in self.editors if one.user not in gone)
        return replace(self, keys=tuple(dict.fromkeys((*kept, *added))), editors=editors)

    def with_editors(self, added: Iterable[Editor]) -> Self:
        """Lets others change it."""
        return replace(self, editors=tuple(dict.fromkeys((*self.editors, *added))))

    def named(self, name: str) -> Self:
        """Gives it another name."""
        return replace(self, name=name)

    def come_due(self) -> Self:
        """Notes that its start is near."""
        return replace(self, is_due=True)

    def told_late(self) -> Self:
        """Notes that its owner has heard that there were no GPUs for it at its start."""
        return replace(self, is_late=True)


@dataclass(frozen=True)
class Sessions:
    """What the sessions of one attempt are, and what has happened in them. The next attempt begins with none of it."""

    active_time: datetime | None = None
    """When people could log in; its time begins then."""
    host_key: str = ""
    login_user: str = ""
    gaps: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    is_expiring: bool = False
    """Its time is up, and its session still lives."""
    out_of_memory_kills: int = 0
    last_login_time: datetime | None = None
    last_seen_time: datetime | None = None
    """When a connection began or ended the last time."""
    last_out_of_memory_time: datetime | None = None
    connections: int = 0
    minutes_charged: int = 0
    no_show_warned: bool = False
    store_id: str = ""
    """Where its machine keeps disks; empty if it keeps none."""
    software: dict[str, str] = field(default_factory=dict[str, str])
    """Versions of its machine's `driver`, `rocm` and `cuda`, as far as they are known."""
    ready_time: datetime | None = None
    """When its first machine could be used. It is active once all can."""
    nodes: tuple[Node, ...] = ()
    """Its other machines by rank, from 1; empty if it has one, or none yet."""
    node_seed: str = ""
    """Random bytes in hex, by which its machines' sessions let one another in; empty if it has one machine."""
    node_addresses: tuple[str, ...] = ()
    """Where its machines reach one another, by rank; empty if it has one machine."""
    image_digest: str = ""
    """That of the image that its first session to be ready has, which all are to have; empty before there is one."""
    left: timedelta = _NOTHING
    """What was left of its time when it was lost by our fault; zero if it was not."""
    recall: Recall | None = None
    """Set while another queue needs its GPUs."""

    @property
    def all_connections(self) -> int:
        """Connections that are open, to all its machines."""
        return self.connections + sum(node.connections for node in self.nodes)

    @property
    def all_out_of_memory_kills(self) -> int:
        """Processes that were killed for memory, on all its machines."""
        return self.out_of_memory_kills + sum(node.out_of_memory_kills for node in self.nodes)

    def charged(self, minutes: int) -> Self:
        """Notes that its first minutes are charged."""
        return replace(self, minutes_charged=minutes)

    def warned_of_no_show(self) -> Self:
        """Notes that its owner has heard that it is ended soon, as nobody has logged in."""
        return replace(self, no_show_warned=True)

    def on(self, more_leases: Iterable[Lease], node_seed: str, addresses: Iterable[str]) -> Self:
        """Notes its machines beside the first, the secret that all share, and the addresses of all."""
        gpus = [(lease.machine_id, tuple(sorted({slot.gpu for slot in lease.slots}))) for lease in more_leases]
        return replace(
            self, nodes=tuple(Node(*one) for one in gpus), node_seed=node_seed, node_addresses=tuple(addresses)
        )

    def without_sessions(self) -> Self:
        """Notes that its sessions are over."""
        nodes = tuple(replace(node, connections=0) for node in self.nodes)
        return replace(self, connections=0, nodes=nodes, node_seed="")


@dataclass(frozen=True)
class Reservation(Sessions, Asked):
    """What a reservation has beyond its job. All time that it is used is charged, by the minute."""

    @property
    def idle_since(self) -> datetime | None:
        """Since when nobody is connected; None if somebody is, or nobody can be yet."""
        if self.active_time is None or self.all_connections:
            return None
        return max(self.active_time, self.last_seen_time or self.active_time)

    @property
    def saved(self) -> timedelta:
        """The time to pay for if the machine is lost: until the disk's last snapshot, as all later work is gone."""
        return self.used(self.disk.safe_time) if self.disk and self.disk.safe_time else _NOTHING

    @property
    def expire_time(self) -> datetime | None:
        """When its time is up; None before it is active."""
        return (self.start_time or self.active_time) + self.total if self.active_time else None

    @property
    def most_left(self) -> timedelta:
        """The most time that it has had left since it was active: at its beginning, or after an extension."""
        if self.active_time is None or self.expire_time is None:
            return _NOTHING
        end, most = self.expire_time, _NOTHING
        for one in reversed(self.extensions):
            most = max(most, end - max(one.time, self.active_time))
            end -= one.duration
        return max(most, end - self.active_time)

    @property
    def longest_lease(self) -> timedelta:
        """For how long its machine is leased: nobody who is silent for an hour ends it early."""
        return self.total + GRACE + SILENCE_AFTER_END + LONGEST_PREPARING

    @property
    def lasts(self) -> timedelta:
        """For how long its sessions go on from their being ready, if nobody tells them more; 0 if their end is fixed.

        Its time begins when the last of several can be used, and those that were ready before must still be there.
        """
        if self.start_time is not None:
            return _NOTHING
        return self.total + (LONGEST_PREPARING if self.nodes else _NOTHING)

    def lease_left(self, start_time: datetime, now: datetime) -> timedelta:
        """For how long it needs the lease that it got at `start_time` from now on; 0 if no more."""
        if self.expire_time is None:
            return max(_NOTHING, start_time + self.longest_lease - _LATENCY - now)
        return max(_NOTHING, self.expire_time + GRACE + SILENCE_AFTER_END - now)

    def end_if_opened(self, now: datetime) -> datetime:
        """The end of a session that is opened now."""
        return self.expire_time or (self.start_time or now) + self.total

    def used(self, until: datetime) -> timedelta:
        """The time to pay for, if it ends then: the grace is free, and so is the time before it was active."""
        if self.active_time is None or self.expire_time is None:
            return _NOTHING
        # Who came before the start of a dated one pays for these minutes, but for no more than was put on hold.
        return max(_NOTHING, min(self.total, min(until, self.expire_time) - self.active_time))

    def minutes_due(self, now: datetime) -> int:
        """How many whole minutes are to be charged by now, with those that are; 0 if no more than these."""
        minutes = self.used(now) // PART
        return minutes if minutes > self.minutes_charged else 0

    def next_minute_end(self) -> datetime | None:
        """When the next minute to charge is over; None if none is to come."""
        if self.active_time is None or self.expire_time is None:
            return None
        end = self.active_time + PART * (self.minutes_charged + 1)
        return end if end <= min(self.expire_time, self.active_time + self.total) else None

    def extended(self, extension: Extension) -> Reservation:
        """Adds time; the end of the grace is as far off as before."""
        return replace(self, extensions=(*self.extensions, extension), is_expiring=False)

    def is_used(self, owner_id: str) -> bool:
        """True if somebody has logged in, or its owner has added time; an operator's extension says nothing of them."""
        return self.last_login_time is not None or any(one.user_id == owner_id for one in self.extensions)

    def afresh(self) -> Reservation:
        """Forgets the session of an attempt that was lost before anybody could log in.

        Several machines look a tag up on their own, and it may move meanwhile: the next ones are told what it meant.
        """
        pins = self.nodes and self.image and self.image_digest and "@" not in self.image
        image = f"{self.image}@{self.image_digest}" if pins else self.image
        return replace(self, **vars(Sessions()), image=image)

    def lost(self, now: datetime) -> Reservation:
        """Notes that it was lost by our fault."""
        return replace(self, left=self.total - self.used(now))

    def after(self, event: SessionEvent, rank: int = 0) -> Reservation:
        """What it is after an event of a machine's session; events that are unknown to us change nothing."""
        if rank:
            nodes = [node.after(event) if at == rank else node for at, node in enumerate(self.nodes, 1)]
            digest = self.image_digest or event.ready.image_digest
            return replace(self, nodes=tuple(nodes), image_digest=digest, **_times(event)).begun()
        return replace(self, **self._changes(event), **_times(event)).begun()

    def begun(self) -> Reservation:
        """What it is if its time has begun, which it does once all its machines are ready."""
        ready = [self.ready_time, *(node.ready_time for node in self.nodes)]
        times = [time for time in ready if time]
        if self.active_time:
            return self._come_early(times)
        if len(times) < len(ready):
            return self
        return replace(self, active_time=max([*times, *([self.start_time] if self.start_time else [])]))

    def _come_early(self, ready_times: Iterable[datetime]) -> Reservation:
        """People may log in before a dated one starts, and pay from then on, if all its machines are ready."""
        if self.start_time and self.active_time and self.last_login_time:
            return replace(self, active_time=min(self.active_time, max([self.last_login_time, *ready_times])))
        return self

    def _changes(self, event: SessionEvent) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        match event.WhichOneof("event"):
            case "step":
                changes = {"steps": (*self.steps, Step(event.step.name, event.step.duration.ToTimedelta()))}
            case "ready":
                ready = event.ready
                changes = {"host_key": ready.host_key, "login_user": ready.user, "gaps": tuple(ready.gaps)}
                changes |= {"ready_time": event.time.ToDatetime(UTC), "store_id": ready.store_id}
                changes["software"] = dict(ready.software)
                changes["image_digest"] = self.image_digest or ready.image_digest
            case "login":
                changes = {"connections": self.connections + 1}
            case "logout":
                changes = {"connections": max(0, self.connections - 1)}
            case "out_of_memory":
                changes = {"out_of_memory_kills": event.out_of_memory.killed}
            case "warning" if event.warning.minutes_left == 0:
                # One of the end before may come just after an extension.
                is_last = not self.expire_time or event.time.ToDatetime(UTC) + GRACE >= self.expire_time
                changes = {"is_expiring": self.is_expiring or is_last}
            case "snapshot" if self.disk:
                changes = {"disk": self.disk.after(event.snapshot)}
            case _:
                pass
        return changes


def _times(event: SessionEvent) -> dict[str, datetime]:
    """What a session's event says of when somebody was there, or memory ran out."""
    names = {
        "login": ("last_login_time", "last_seen_time"),
        "logout": ("last_seen_time",),
        "out_of_memory": ("last_out_of_memory_time",),
    }
    return dict.fromkeys(names.get(event.WhichOneof("event") or "", ()), event.time.ToDatetime(UTC))


def state_of(state: JobState, reservation: Reservation, *, is_cancelled: bool) -> ReservationState:
    """The state of a reservation whose job is in `state`; `is_cancelled` if somebody asked for its end."""
    if state is not JobState.RUNNING:
        waits = ReservationState.PENDING if reservation.is_pending else ReservationState.QUEUED
        return _STATES.get(state, waits)
    if is_cancelled or reservation.is_expiring:
        return ReservationState.EXPIRING
    return ReservationState.ACTIVE if reservation.active_time else ReservationState.PREPARING


_STATES = {
    JobState.SETTLING: ReservationState.EXPIRING,
    JobState.FINISHED: ReservationState.EXPIRED,
    JobState.CANCELLED: ReservationState.CANCELLED,
    JobState.FAILED: ReservationState.FAILED,
}
