"""Schemas of a reservation's events, for the OpenAPI document; tests hold them together with the frames."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gateway.submissions.event_schemas import HeartbeatEvent, ProvisioningFields
from gateway.words.answer_words import SnapshotReasonWord

_Time = Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]


class _Event(TypedDict):
    reservation_id: str
    timestamp: Annotated[int, Field(description="Milliseconds since 1970.")]
    attempt: int
    cost_usd: Annotated[float, Field(description="Accrued; settled in the last event.")]
    node: NotRequired[Annotated[int, Field(description="The rank of the machine, if it is not the first of several.")]]


class _Act(_Event):
    user_id: Annotated[str, Field(description="Who did it; empty if the platform did.")]
    by: NotRequired[Annotated[str, Field(description="The user's name.")]]


class ReservationPendingEvent(_Event):
    """It waits for its start."""

    status: Literal["PENDING"]
    start_time: _Time


class ReservationQueuedEvent(_Event):
    """It waits in its queue."""

    status: Literal["QUEUED"]
    position: Annotated[int | None, Field(description="From 1.")]
    eta_p50: Annotated[float | None, Field(description="Seconds.")]
    eta_p90: Annotated[float | None, Field(description="Seconds.")]
    message: str


class ReservationPreparingEvent(_Event, ProvisioningFields):
    """It is getting a machine, or has its GPUs."""

    status: Literal["PREPARING"]


class ReservationStepEvent(_Event):
    """A step of its start is done."""

    status: Literal["STEP"]
    name: str
    seconds: float


class ReservationActiveEvent(_Event):
    """People can log in, and its time runs."""

    status: Literal["ACTIVE"]
    expires_at: _Time
    host_key: str
    login_user: str
    gaps: list[str]
    ssh_command: str


class ReservationLoginEvent(_Event):
    """A user logged in or out."""

    status: Literal["LOGIN", "LOGOUT"]
    connection: Annotated[int, Field(description="From 1.")]
    user: str
    fingerprint: Annotated[str, Field(description="Of the key.")]


class ReservationOomEvent(_Event):
    """Memory ran out."""

    status: Literal["OOM"]
    oom_count: Annotated[int, Field(description="Processes killed so far.")]


class ReservationBuildingEvent(_Event):
    """The build of its image wrote some lines."""

    status: Literal["BUILDING"]
    text: str


class ReservationProgressEvent(_Event):
    """Its image is fetched, or its home is restored."""

    status: Literal["FETCHING", "RESTORING"]
    percent: int


class ReservationCommandEndedEvent(_Event):
    """The image's own command ended; the reservation goes on."""

    status: Literal["COMMAND_ENDED"]
    exit_status: int


class ReservationSnapshotEvent(_Event):
    """A snapshot of its disk was taken, or failed: then it has `fault` and no more."""

    status: Literal["SNAPSHOT"]
    reason: SnapshotReasonWord
    seconds: float
    fault: Annotated[str | None, Field(description="Why there is none; null if it was taken.")]
    time: NotRequired[_Time]
    size_bytes: NotRequired[int]
    files: NotRequired[int]
    skipped: NotRequired[int]
    is_unchanged: NotRequired[bool]


class ReservationDiskEvent(_Event):
    """Its session has used nine tenths of its share of the disk, or more than all of it."""

    status: Literal["DISK"]
    used_bytes: int
    share_bytes: int


class ReservationWarningEvent(_Event):
    """Its time is nearly up."""

    status: Literal["WARNING"]
    minutes_left: int


class ReservationExtendedEvent(_Act):
    """It got more time."""

    status: Literal["EXTENDED"]
    hours: float
    expires_at: _Time


class ReservationUsersChangedEvent(_Act):
    """Its users changed."""

    status: Literal["USERS_CHANGED"]
    users: Annotated[list[str], Field(description="Who may log in now.")]
    added: list[str]
    removed: list[str]
    editors: Annotated[list[str], Field(description="Who got the right to change it.")]


class ReservationNotifiedEvent(_Act):
    """A user wrote to its terminals."""

    status: Literal["NOTIFIED"]
    text: str
    terminals: int


class ReservationEndingEvent(_Act):
    """A user ends it, or the platform does."""

    status: Literal["ENDING"]
    message: Annotated[str, Field(description="The reason; may be empty.")]


class ReservationNoShowEvent(_Event):
    """No user has logged in: it is cancelled then unless one does."""

    status: Literal["NO_SHOW"]
    ends_at: _Time


class ReservationRecalledEvent(_Event):
    """Another queue needs its GPUs."""

    status: Literal["RECALLED"]
    queue: str
    ends_at: Annotated[_Time, Field(description="It is ended then; null: it is no longer ended for that queue.")]
    message: str


class ReservationExpiringEvent(_Event):
    """Its time is up; its session still lives for its grace."""

    status: Literal["EXPIRING"]


class ReservationEndedEvent(_Event):
    """The last event."""

    status: Literal["EXPIRED", "CANCELLED", "FAILED"]
    message: str
    final: Literal[True]


ReservationEvent = Annotated[
    ReservationPendingEvent
    | ReservationQueuedEvent
    | ReservationPreparingEvent
    | ReservationStepEvent
    | ReservationActiveEvent
    | ReservationLoginEvent
    | ReservationOomEvent
    | ReservationBuildingEvent
    | ReservationProgressEvent
    | ReservationCommandEndedEvent
    | ReservationSnapshotEvent
    | ReservationDiskEvent
    | ReservationWarningEvent
    | ReservationExtendedEvent
    | ReservationUsersChangedEvent
    | ReservationNotifiedEvent
    | ReservationEndingEvent
    | ReservationNoShowEvent
    | ReservationRecalledEvent
    | ReservationExpiringEvent
    | ReservationEndedEvent
    | HeartbeatEvent,
    Field(
        discriminator="status",
        description="The data of an event. Others may follow: ignore a status that you do not know.",
    ),
]
