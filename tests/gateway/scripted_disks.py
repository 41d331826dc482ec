"""Disks whose answers are written here; they note what was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.scheduler.v1 import disks_pb2 as pb
from wavepool.scheduler.v1 import disks_pb2_grpc

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals

SAFE_TIME = Timestamp(seconds=1_800_000_600)


def disk(**fields: Any) -> pb.Disk:
    """A disk of the user, with `fields` replaced."""
    taken = pb.DiskSnapshot(
        snapshot_id="s-1", time=SAFE_TIME, size_bytes=6, files=2, reason="end", duration=Duration(seconds=2)
    )
    sound: dict[str, Any] = {
        "disk_id": "dsk_01J",
        "user_id": "user_ada",
        "name": "work",
        "state": pb.DISK_STATE_IN_USE,
        "size_limit_bytes": 1 << 30,
        "create_time": Timestamp(seconds=1_800_000_000),
        "safe_time": SAFE_TIME,
        "reservation_id": "res_01J",
        "snapshots": [taken],
    }
    return pb.Disk(**{**sound, **fields})


class ScriptedDisks(disks_pb2_grpc.DiskServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.found = disk()

    async def CreateDisk(self, request: Any, context: Any) -> pb.CreateDiskResponse:
        await self.refusals.meet("CreateDisk", request, context)
        return pb.CreateDiskResponse(disk=self.found)

    async def ListDisks(self, request: Any, context: Any) -> pb.ListDisksResponse:
        await self.refusals.meet("ListDisks", request, context)
        return pb.ListDisksResponse(disks=[self.found])

    async def DeleteDisk(self, request: Any, context: Any) -> pb.DeleteDiskResponse:
        await self.refusals.meet("DeleteDisk", request, context)
        return pb.DeleteDiskResponse(disk=self.found)

    async def RenameDisk(self, request: Any, context: Any) -> pb.RenameDiskResponse:
        await self.refusals.meet("RenameDisk", request, context)
        return pb.RenameDiskResponse(disk=self.found)

    async def CloneDisk(self, request: Any, context: Any) -> pb.CloneDiskResponse:
        await self.refusals.meet("CloneDisk", request, context)
        return pb.CloneDiskResponse(disk=self.found)

    async def GetDiskContent(self, request: Any, context: Any) -> pb.GetDiskContentResponse:
        await self.refusals.meet("GetDiskContent", request, context)
        files = [pb.DiskFile(path="src/", time=SAFE_TIME), pb.DiskFile(path="src/a", size_bytes=6, time=SAFE_TIME)]
        return pb.GetDiskContentResponse(snapshot=self.found.snapshots[0], files=files, is_cut=True)

    async def SnapshotDisk(self, request: Any, context: Any) -> pb.SnapshotDiskResponse:
        await self.refusals.meet("SnapshotDisk", request, context)
        return pb.SnapshotDiskResponse(snapshot=self.found.snapshots[0], is_unchanged=True, skipped=2)
