"""Disks as JSON; pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from wavepool.scheduler.v1 import disks_pb2 as pb

from gateway.words.answer_words import DiskStateWord, SnapshotReasonWord
from gateway.words.proto_time import seconds_of
from gateway.words.shown import shown

GIB = 1 << 30
MOST_GIB = 1 << 20
"""More than any disk has, so that the scheduler names its own limit."""

DiskName = Annotated[
    str, Field(max_length=63, description="1 to 63 lower case letters, digits and hyphens; not `none`.")
]


class DiskRequest(BaseModel):
    """A disk to make."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "training", "size_gib": 50}]})

    name: DiskName
    size_gib: Annotated[
        float | None, Field(gt=0, le=MOST_GIB, description="Its maximum size; default: the operator's.")
    ] = None

    @property
    def size_bytes(self) -> int:
        """The size, or 0 if it is left out."""
        return int((self.size_gib or 0) * GIB)


class DiskSnapshot(BaseModel):
    """A snapshot of a disk."""

    id: str
    time: Annotated[datetime | None, Field(description="It contains everything that was written before this time.")]
    size_bytes: Annotated[int, Field(description="The sum of the sizes of its files.")]
    files: int
    reason: SnapshotReasonWord
    seconds: Annotated[float, Field(description="How long it took.")]


class Disk(BaseModel):
    """A disk as it is now."""

    id: str
    name: str
    owner: Annotated[str, Field(description="A user's name.")]
    owner_id: str
    state: DiskStateWord
    size_limit_bytes: int
    size_bytes: Annotated[int, Field(description="Of its last snapshot; 0 if there is none.")]
    create_time: datetime | None
    last_used_time: datetime | None
    safe_time: Annotated[
        datetime | None,
        Field(description="Its last snapshot contains everything written before this time; null if there is none."),
    ]
    reservation_id: Annotated[str | None, Field(description="The reservation that uses it.")]
    delete_time: datetime | None
    remove_time: Annotated[datetime | None, Field(description="When its snapshots are removed, if it is deleted.")]
    snapshots: Annotated[list[DiskSnapshot], Field(description="The oldest first.")]


class NewName(BaseModel):
    """A name for a disk."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "training-2"}]})

    name: DiskName


class TakenSnapshot(DiskSnapshot):
    """A snapshot that was taken on request."""

    is_unchanged: Annotated[bool, Field(description="Nothing had changed: it is the previous snapshot.")]
    skipped: Annotated[int, Field(description="Sockets, pipes and devices, which are left out.")]


class DiskFile(BaseModel):
    """A file or folder."""

    path: Annotated[str, Field(description="From the top of the home; the path of a folder ends with `/`.")]
    size_bytes: int
    time: datetime | None


class DiskContent(BaseModel):
    """The files of a disk's last snapshot."""

    snapshot: Annotated[DiskSnapshot | None, Field(description="Null if there is none.")]
    files: list[DiskFile]
    is_cut: Annotated[bool, Field(description="There are more files than are listed.")]


class DiskList(BaseModel):
    """Disks by name, deleted ones last."""

    disks: list[Disk]


def disk_of(disk: pb.Disk, names: Mapping[str, str]) -> Disk:
    """A disk; `names` has users' names by their ids."""
    return shown(
        Disk,
        disk,
        owner=names.get(disk.user_id, disk.user_id),
        owner_id=disk.user_id,
        size_bytes=disk.snapshots[-1].size_bytes if disk.snapshots else 0,
        snapshots=[snapshot_of(one) for one in disk.snapshots],
    )


def snapshot_of(snapshot: pb.DiskSnapshot) -> DiskSnapshot:
    """A snapshot."""
    return shown(DiskSnapshot, snapshot, seconds=seconds_of(snapshot.duration))


def taken_of(answer: pb.SnapshotDiskResponse) -> TakenSnapshot:
    """A snapshot that was taken on request."""
    return shown(TakenSnapshot, answer, answer.snapshot, seconds=seconds_of(answer.snapshot.duration))


def content_of(answer: pb.GetDiskContentResponse) -> DiskContent:
    """The files of a disk's last snapshot."""
    return shown(DiskContent, answer, snapshot=snapshot_of(answer.snapshot) if answer.HasField("snapshot") else None)
