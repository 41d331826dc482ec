"""Reservations as JSON: what is sent, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Self

from google.protobuf.duration_pb2 import Duration
from pydantic import AwareDatetime, Base64Bytes, BaseModel, ConfigDict, Field, model_validator
from wavepool.executor.v1.session_pb2 import SessionKey
from wavepool.scheduler.v1.reservations_pb2 import ReservationSpec

from gateway.words.answer_words import Documented
from gateway.words.gpu_type_field import GpuType
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from vocabulary.image_references import MOST_CHARACTERS
from vocabulary.limits import MAX_PRIORITY, MIN_PRIORITY

MOST_HOURS = 10_000
"""More than any scheduler allows, so that the scheduler names its own limit."""
MOST_GPUS = 1_000
MOST_KEYS = 64
MOST_KEY_CHARACTERS = 16_384

_Hours = Annotated[
    float,
    Field(strict=True, gt=0, le=MOST_HOURS, description="Decimals are accepted; rounded to whole seconds."),
]
_Word = Annotated[str, Field(max_length=40)]
_Person = Annotated[str, Field(max_length=64)]


PublicKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MOST_KEY_CHARACTERS,
        description="One line of OpenSSH, such as `ssh-ed25519 AAAA… alice@laptop`, without options.",
    ),
]


class ReservationState(StrEnum):
    """The state of a reservation."""

    PENDING = "pending"
    QUEUED = "queued"
    PREPARING = "preparing"
    ACTIVE = "active"
    EXPIRING = "expiring"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ActName(StrEnum):
    """The kind of a change that a person or the platform made to a reservation."""

    EXTENDED = "extended"
    USERS_CHANGED = "users_changed"
    NOTIFIED = "notified"
    ENDING = "ending"


_StateWord = Annotated[str, Documented(ReservationState)]


class Key(BaseModel):
    """A public key, and whose it is."""

    model_config = ConfigDict(extra="forbid")

    user: Annotated[
        _Person, Field(description="1 to 64 letters, digits, or any of `.`, `_`, `@`, `-`; default: your user's name.")
    ] = ""
    public_key: PublicKey


class _Wanted(BaseModel):
    """The fields that a reservation and its quote share."""

    gpu_type: GpuType = ""
    gpu_count: Annotated[
        int,
        Field(
            strict=True, ge=1, le=MOST_GPUS, description="1, 2, 4 or 8 of one machine; 16, 24, 32, 40 or 48 of several."
        ),
    ] = 1
    distributed: Annotated[
        bool,
        Field(strict=True, description="The GPUs may be on several machines; all of them start together or none does."),
    ] = False
    allow_slow_links: Annotated[
        bool, Field(strict=True, description="Any links between the machines are accepted.")
    ] = False
    hours: _Hours
    start_time: Annotated[
        AwareDatetime | None,
        Field(description="When its time begins, with a zone, such as `2026-11-28T09:00:00Z`; default: at once."),
    ] = None
    queue: Annotated[str, Field(max_length=63, description="Default: `default`.")] = ""
    priority: Annotated[int, Field(strict=True, ge=MIN_PRIORITY, le=MAX_PRIORITY)] = 0
    fallback_gpu_types: Annotated[
        list[_Word],
        Field(
            max_length=8, description="GPU types to use, in order of preference, if no machine of `gpu_type` is free."
        ),
    ] = []

    disk: Annotated[
        str,
        Field(
            max_length=63,
            description="Your disk that becomes the home; without it, or with `none`, the home is not kept.",
        ),
    ] = ""
    image: Annotated[
        str,
        Field(
            max_length=MOST_CHARACTERS,
            description="The image whose files are the root, such as `registry.example:5000/team/rocm:6.2`, "
            "from a registry that the operator allows; default: the machine's own.",
        ),
    ] = ""
    build_digest: Annotated[
        str,
        Field(
            max_length=100,
            description="The image is built from what `POST /api/v1/build-contexts` gave this name; without `image`.",
        ),
    ] = ""
    preserve_entrypoint: Annotated[
        bool, Field(strict=True, description="The image's own ENTRYPOINT and CMD are started in the session.")
    ] = False

    def spec(self, name: str = "", keys: Sequence[SessionKey] = ()) -> ReservationSpec:
        """The message."""
        return ReservationSpec(
            gpu_type=self.gpu_type,
            gpus=self.gpu_count,
            duration=duration_of(self.hours),
            name=name,
            keys=keys,
            queue=self.queue,
            priority=self.priority,
            fallback_gpu_types=self.fallback_gpu_types,
            start_time=instant_to_proto(self.start_time),
            disk=self.disk,
            distributed=self.distributed,
            allow_slow_links=self.allow_slow_links,
            image=self.image,
            build_digest=self.build_digest,
            preserve_entrypoint=self.preserve_entrypoint,
        )


class AddedUser(BaseModel):
    """A person who may log in: with the key given, or with the keys that Wavepool finds."""

    model_config = ConfigDict(extra="forbid")

    user: Annotated[
        _Person,
        Field(
            description="With a key: the name of its user, or yours if left out. Without: the id or name of a user, or "
            "`github:` and a name on GitHub."
        ),
    ] = ""
    public_key: Annotated[PublicKey | None, Field(description="Default: look up the user's keys.")] = None

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not self.user and self.public_key is None:
            raise ValueError("give a user, a public_key, or both")
        return self


class BuildContextRequest(BaseModel):
    """A Dockerfile and its folder, to build an image from."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[
        Base64Bytes,
        Field(
            description="In base64: a tar with gzip of at most 8 MiB, first the file `Dockerfile` of at most 512 KiB, "
            "then what it may copy, below `context/`."
        ),
    ]


class BuildContext(BaseModel):
    """The stored folder."""

    build_digest: Annotated[
        str, Field(description="The name to pass to `POST /api/v1/reservations`, such as `sha256:…`.")
    ]


class ReservationRequest(_Wanted):
    """GPUs for some hours, and who may log in."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"gpu_type": "MI300X", "gpu_count": 1, "hours": 0.5, "keys": [{"public_key": "ssh-ed25519 AAAA… ada"}]}
            ]
        },
    )

    name: Annotated[
        str,
        Field(max_length=63, description="1 to 63 lower case letters, digits and hyphens; default: a generated name."),
    ] = ""
    keys: Annotated[list[Key], Field(max_length=MOST_KEYS, description="Who may log in, with which keys.")] = []
    own_keys: Annotated[
        bool | None,
        Field(
            strict=True,
            description="Use all your keys that Wavepool finds, beside `keys`. Default: true if `keys` is empty.",
        ),
    ] = None
    add_users: Annotated[
        list[AddedUser],
        Field(max_length=MOST_KEYS, description="Others who may log in; keys are looked up of those without one."),
    ] = []

    @model_validator(mode="after")
    def _some_keys(self) -> Self:
        if self.own_keys is False and not self.keys and not self.add_users:
            raise ValueError("give `keys`, or remove `own_keys`: without a key, logging in is not possible")
        return self


class QuoteRequest(_Wanted):
    """GPUs for some hours."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"gpu_count": 8, "hours": 24}]})


class ExtensionRequest(BaseModel):
    """More time."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"hours": 1.5}]})

    hours: _Hours


class UsageOfDay(BaseModel):
    """GPU hours of a user on a day."""

    day: Annotated[date, Field(description="A day of UTC.")]
    account_id: str
    user_id: str
    user: Annotated[str, Field(description="The user's name; the id, if it is not known now.")]
    gpu_type: str
    gpu_hours: Annotated[float, Field(description="Two GPUs for one hour count as two hours.")]
    reservations: Annotated[int, Field(description="Reservations that used some of them.")]


class ReservationUsage(BaseModel):
    """GPU hours of reservations, the earliest day first."""

    usage: list[UsageOfDay]


class NotifyRequest(BaseModel):
    """A text for everybody who is logged in."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "Maintenance at noon."}]})

    text: Annotated[str, Field(min_length=1, max_length=2000, description="Line breaks and tabs are allowed.")]


class Notified(BaseModel):
    """Who got a text."""

    terminals: Annotated[int, Field(description="Terminals that it was written to.")]


class UsersRequest(BaseModel):
    """Who may log in from now on, and who no longer."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"remove": ["bob"]}]})

    add: Annotated[list[AddedUser], Field(max_length=MOST_KEYS, description="Beside the keys that are there.")] = []
    remove: Annotated[
        list[_Person],
        Field(
            max_length=MOST_KEYS,
            description="Names of users to remove: their keys are deleted, and they are logged out.",
        ),
    ] = []
    add_editors: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=64)]],
        Field(
            max_length=MOST_KEYS,
            description="Ids or names of users who may log in, and change the reservation as its owner may.",
        ),
    ] = []


class ReservationChange(BaseModel):
    """The changes."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "training"}]})

    name: Annotated[str, Field(min_length=1, max_length=63)]


class Step(BaseModel):
    """A step of the start that is done."""

    name: Annotated[str, Field(description="`queue`, `disk`, `image`, `sandbox`, `sshd`.")]
    seconds: float


class Extension(BaseModel):
    """More time that was given."""

    hours: float
    at: datetime | None
    by: Annotated[str, Field(description="A user's name.")]


class Act(BaseModel):
    """A change that a person or the platform made to a reservation."""

    at: datetime | None
    by: Annotated[str | None, Field(description="A user's name; null if the platform did it.")]
    what: Annotated[str, Documented(ActName)]
    hours: Annotated[float | None, Field(description="That were added.")] = None
    added: Annotated[list[str], Field(description="Who got a key, with its fingerprint.")] = []
    removed: Annotated[list[str], Field(description="Users whose keys were removed.")] = []
    editors: Annotated[list[str], Field(description="Users who got the right to change it.")] = []
    text: Annotated[str | None, Field(description="The text written to its terminals, or why it was ended.")] = None


class LoginKey(BaseModel):
    """A key that may log in, without the key itself."""

    user: str
    type: Annotated[str, Field(description="Such as `ssh-ed25519`.")]
    fingerprint: Annotated[str, Field(description="As OpenSSH shows it, such as `SHA256:…`.")]


class AddedKey(LoginKey):
    """A key that may log in now, and where it is from."""

    origin: Annotated[str, Field(description="`given`, `wavepool`, a file, or such as `github.com/alice`.")]


class Node(BaseModel):
    """One of several machines of a reservation."""

    rank: Annotated[int, Field(description="From 0. The disk is the home on the machine of rank 0 alone.")]
    machine_id: str | None
    machine_gpus: Annotated[list[int], Field(description="The numbers of its GPUs on the machine.")]
    state: Annotated[_StateWord, Field(description="The reservation's state: all are active at once.")]
    ready_at: Annotated[datetime | None, Field(description="Its session was ready.")]
    host_key: Annotated[str | None, Field(description="Names its session to ssh, such as `ssh-ed25519 AAAA…`.")]
    login_user: str | None
    gaps: Annotated[list[str], Field(description="Limits that this machine enforces less strictly than it should.")]


class Reservation(BaseModel):
    """A reservation as it is now. Times are in UTC, and null until they are known."""

    id: str
    name: str
    owner: Annotated[str, Field(description="A user's name.")]
    owner_id: str
    account_id: str
    state: _StateWord
    message: Annotated[str, Field(description="Why it is in its state.")]
    gpu_type: str
    machine_gpu_type: Annotated[str | None, Field(description="The GPU type that it got, which may be a fallback.")]
    gpu_count: int
    machine_id: str | None
    machine_gpus: Annotated[list[int], Field(description="The numbers of its GPUs on the machine.")]
    nodes: Annotated[
        list[Node],
        Field(description="Its machines by rank, if it has several. Other fields about a machine are of rank 0."),
    ]
    hours: Annotated[float, Field(description="As reserved, without extensions.")]
    queue: str
    priority: int
    fallback_gpu_types: list[str]
    create_time: datetime | None
    start_time: Annotated[datetime | None, Field(description="When it is to start; null: as soon as it has GPUs.")]
    launched_at: Annotated[datetime | None, Field(description="It got its GPUs.")]
    active_at: Annotated[datetime | None, Field(description="People could log in; its time began.")]
    expires_at: datetime | None
    end_time: datetime | None
    time_left_seconds: Annotated[float | None, Field(description="Null unless it is active.")]
    position: Annotated[int | None, Field(description="In the queue, from 1; null if it does not wait.")]
    eta_p50: Annotated[float | None, Field(description="Expected seconds until it starts.")]
    eta_p90: Annotated[float | None, Field(description="It starts within this many seconds in 9 of 10 cases.")]
    disk_name: Annotated[str | None, Field(description="The disk that is its home.")]
    disk_safe_time: Annotated[
        datetime | None, Field(description="The disk's last snapshot contains everything written before this time.")
    ]
    disk_fault: Annotated[
        str | None, Field(description="Why the last snapshot of its disk failed; null if it did not.")
    ]
    image: Annotated[str | None, Field(description="The image whose files are its root; null: the machine's own.")]
    build_digest: Annotated[str | None, Field(description="The digest of its build context; null: no image is built.")]
    preserve_entrypoint: Annotated[bool, Field(description="The image's own command is started in its session.")]
    image_digest: Annotated[str | None, Field(description="That of its session, such as `sha256:…`.")]
    steps: list[Step]
    extensions: list[Extension]
    borrowed_gpus: Annotated[
        float,
        Field(
            description="Its GPUs above the quota of its queue now. It is not extended while another queue waits for "
            "what is within its own quota."
        ),
    ]
    recall_time: Annotated[
        datetime | None,
        Field(description="It is ended then for the queue `recall_queue`, if that still waits for its own quota."),
    ]
    recall_queue: str | None
    history: Annotated[
        list[Act],
        Field(description="Changes by people, among its last 500 events; not in lists."),
    ]
    gaps: Annotated[list[str], Field(description="Limits that its machine enforces less strictly than it should.")]
    software: Annotated[
        dict[str, str],
        Field(description="Versions of its machine's `driver`, `rocm` and `cuda`, as far as they are known."),
    ]
    host_key: Annotated[str | None, Field(description="Names its session to ssh, such as `ssh-ed25519 AAAA…`.")]
    login_user: str | None
    ssh_command: Annotated[
        str | None, Field(description="The command that opens a shell there; null unless it is active.")
    ]
    users: Annotated[list[str], Field(description="Who may log in.")]
    editors: Annotated[list[str], Field(description="Users whom the owner lets change it.")]
    keys: Annotated[list[LoginKey], Field(description="With which keys.")]
    oom_count: Annotated[int, Field(description="Processes killed because memory ran out.")]
    last_oom_at: datetime | None
    last_login_at: datetime | None
    idle_since: Annotated[
        datetime | None, Field(description="Since when there is no connection; null while there is one.")
    ]
    connections: Annotated[int, Field(description="That are open.")]
    price_per_gpu_hour: Annotated[float, Field(description="Dollars.")]
    hold_usd: Annotated[float, Field(description="Credit on hold for it.")]
    cost_usd: Annotated[float, Field(description="Charged so far.")]
    machine_cost_usd: Annotated[
        float | None,
        Field(description="The operator's cost of its GPUs, as reported so far; null in lists, and if unknown."),
    ] = None
    overhead_usd: Annotated[float | None, Field(description="That cost less the charge; 0 if more was charged.")] = None
    surplus_usd: Annotated[float | None, Field(description="The charge less that cost; 0 if they cost more.")] = None
    events_url: str


class ChangedReservation(Reservation):
    """A reservation that was made, or whose users were changed."""

    added_keys: Annotated[list[AddedKey], Field(description="The keys of the request.")]
    notes: Annotated[list[str], Field(description="Warnings, such as a key that is not used and why.")]


class ReservationPage(BaseModel):
    """Reservations, newest first."""

    reservations: list[Reservation]
    next_page_token: str


class ReservationQuote(BaseModel):
    """The maximum cost of a reservation, and how long it would wait."""

    gpu_type: str
    gpu_count: int
    machines: int
    hours: float
    price_per_gpu_hour: Annotated[float, Field(description="Dollars.")]
    hold_usd: Annotated[float, Field(description="For the whole time, on the dearest of its GPU types.")]
    eta_p50: Annotated[float | None, Field(description="Expected seconds until it would start; null: not known.")]
    eta_p90: float | None
    start_time: Annotated[datetime | None, Field(description="When it is to start, if it starts later.")]
    borrowed_gpus: Annotated[float, Field(description="Its GPUs above the quota of its queue, if it began now.")]


class CalendarEntry(BaseModel):
    """A reservation that has GPUs, or is to have them: from `start_time` until just before `end_time`."""

    gpu_type: str
    gpu_count: int
    start_time: datetime | None
    end_time: datetime | None
    state: _StateWord
    machine_id: Annotated[
        str | None, Field(description="The machine that it has, or is likely to get; null: not started yet.")
    ]
    more_machine_ids: Annotated[list[str], Field(description="The other machines of one that takes several.")]
    late: Annotated[bool, Field(description="It is expected to have no GPUs at its start.")]
    reservation_id: Annotated[str | None, Field(description="Null, like name and owner, if you may not see them.")]
    name: str | None
    owner: Annotated[str | None, Field(description="A user's name.")]


class ReservationCalendar(BaseModel):
    """Which GPUs reservations have, and are to have, the earliest start first."""

    entries: list[CalendarEntry]


class SizeWait(BaseModel):
    """How long a reservation of so many GPUs would wait."""

    gpu_count: int
    eta_p50: Annotated[float | None, Field(description="Seconds; null: not known, or no machine has so many GPUs.")]
    eta_p90: float | None


class QueueHead(BaseModel):
    """The first in line for a GPU type, without its owner."""

    gpu_count: Annotated[int, Field(description="The number of its GPUs, on all its machines.")]
    gpu_fraction: Annotated[float | None, Field(description="The part of a GPU that it takes; null: whole ones.")]
    create_time: Annotated[datetime | None, Field(description="When it began to wait.")]
    reason: str


class GpuAvailability(BaseModel):
    """The machines and queue of one GPU type."""

    gpu_type: str
    total_gpus: Annotated[int, Field(description="Of ready machines.")]
    free_gpus: int
    largest_free: Annotated[int, Field(description="The largest number free on one machine.")]
    startable_gpus: Annotated[int, Field(description="Of machines that the pool may still start.")]
    reserved_gpus: int
    queue_length: Annotated[int, Field(description="Submissions and reservations that wait.")]
    price_per_gpu_hour: Annotated[float, Field(description="Dollars.")]
    waits: list[SizeWait]
    next_dated_time: Annotated[datetime | None, Field(description="The next start of a reservation that starts later.")]
    next_dated_gpus: Annotated[int, Field(description="GPUs that are kept for those that start then.")]
    maintenance: Annotated[
        str | None, Field(description="Why it cannot be reserved now, or only by some users; else null.")
    ]
    queue_head: Annotated[QueueHead | None, Field(description="The first in line, and why it waits; null: none waits.")]


class Availability(BaseModel):
    """The GPUs that could be reserved now, by type."""

    gpu_types: list[GpuAvailability]


def duration_of(hours: float) -> Duration:
    """The message for so many hours, in whole seconds: people write 5 minutes as 0.0833 hours."""
    return duration_to_proto(timedelta(seconds=max(1, round(hours * 3600))))


def session_keys(keys: Sequence[Key], user_name: str) -> list[SessionKey]:
    """The messages for keys; those without a name are of `user_name`."""
    return [SessionKey(user=key.user or user_name, public_key=key.public_key) for key in keys]
