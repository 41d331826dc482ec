"""`/api/v1/disks`: homes that outlive reservations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from wavepool.billing.v1.identity_pb2 import GetUserRequest
from wavepool.scheduler.v1 import disks_pb2 as pb

from gateway.auth import Caller
from gateway.dependencies import Gateway, TheAccount, TheGateway, TheSubmitter
from gateway.http.errors import Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.reservations.disks import (
    Disk,
    DiskContent,
    DiskList,
    DiskRequest,
    NewName,
    TakenSnapshot,
    content_of,
    disk_of,
    taken_of,
)
from gateway.routes.identity_calls import call, names_of
from servicekit.logging import get_logger
from vocabulary.rights import Asker, Belonging, Standing, standing_of

log = get_logger(__name__)
router = APIRouter(prefix="/disks", tags=["disks"], route_class=JsonRoute)

ALL = "all"
DiskName = Annotated[str, Path(max_length=63)]
Owner = Annotated[
    str, Query(max_length=100, description="A user's id or name, for operators and administrators; default: you.")
]
FIELD_NAMES = {"size_limit_bytes": "size_gib"}
NEW_NAME = {"new_name": "name"}
SNAPSHOT_SECONDS = 1000.0
"""Longer than two snapshots take: one may have to wait for the one before."""


@router.post("", status_code=201, responses=problems(403, 409, 429))
async def create_disk(body: DiskRequest, caller: TheSubmitter, gateway: TheGateway) -> Disk:
    """Make an empty disk."""
    request = pb.CreateDiskRequest(user_id=caller.user_id, name=body.name, size_limit_bytes=body.size_bytes)
    return await _shown(gateway, (await call(gateway.upstreams.disks.CreateDisk, request, FIELD_NAMES)).disk)


@router.get("", responses=problems(403, 404))
async def list_disks(
    caller: TheAccount,
    gateway: TheGateway,
    user_id: Annotated[
        str,
        Query(max_length=100, description="A user's id or name, or `all`, for operators; default: you."),
    ] = "",
    deleted: Annotated[bool, Query(description="Include deleted disks that are not yet removed.")] = False,  # noqa: FBT002 - in the query
) -> DiskList:
    """List your disks."""
    owner = "" if user_id == ALL and caller.oversees else await _owner(gateway, caller, user_id)
    request = pb.ListDisksRequest(user_id=owner, with_deleted=deleted)
    found = (await call(gateway.upstreams.disks.ListDisks, request)).disks
    names = await names_of(gateway, {disk.user_id for disk in found})
    return DiskList(disks=[disk_of(disk, names) for disk in found])


@router.delete("/{name}", responses=problems(403, 404, 409))
async def delete_disk(name: DiskName, caller: TheSubmitter, gateway: TheGateway, user_id: Owner = "") -> Disk:
    """Delete a disk. Its snapshots are kept until its `remove_time`."""
    request = pb.DeleteDiskRequest(user_id=await _owner(gateway, caller, user_id), name=name)
    return await _shown(gateway, (await call(gateway.upstreams.disks.DeleteDisk, request)).disk)


@router.patch("/{name}", responses=problems(403, 404, 409))
async def rename_disk(
    name: DiskName, body: NewName, caller: TheSubmitter, gateway: TheGateway, user_id: Owner = ""
) -> Disk:
    """Give a disk another name."""
    request = pb.RenameDiskRequest(user_id=await _owner(gateway, caller, user_id), name=name, new_name=body.name)
    return await _shown(gateway, (await call(gateway.upstreams.disks.RenameDisk, request, NEW_NAME)).disk)


@router.post("/{name}/clone", status_code=201, responses=problems(403, 404, 409, 429))
async def clone_disk(
    name: DiskName, body: NewName, caller: TheSubmitter, gateway: TheGateway, user_id: Owner = ""
) -> Disk:
    """Make a disk that begins with the last snapshot of this one, which may be in use. Nothing is copied."""
    request = pb.CloneDiskRequest(user_id=await _owner(gateway, caller, user_id), name=name, new_name=body.name)
    return await _shown(gateway, (await call(gateway.upstreams.disks.CloneDisk, request, NEW_NAME)).disk)


@router.get("/{name}/content", responses=problems(403, 404))
async def get_disk_content(name: DiskName, caller: TheAccount, gateway: TheGateway, user_id: Owner = "") -> DiskContent:
    """List the files of a disk's last snapshot."""
    request = pb.GetDiskContentRequest(user_id=await _owner(gateway, caller, user_id), name=name)
    return content_of(await call(gateway.upstreams.disks.GetDiskContent, request))


@router.post("/{name}/snapshot", responses=problems(403, 404, 409))
async def take_disk_snapshot(
    name: DiskName, caller: TheSubmitter, gateway: TheGateway, user_id: Owner = ""
) -> TakenSnapshot:
    """Take a snapshot of a disk that an active reservation uses. It is complete once this answers."""
    request = pb.SnapshotDiskRequest(user_id=await _owner(gateway, caller, user_id), name=name)
    return taken_of(await gateway.upstreams.disks.SnapshotDisk(request, timeout=SNAPSHOT_SECONDS))


async def _owner(gateway: Gateway, caller: Caller, user_id: str) -> str:
    """The user whose disk is meant; raises ProblemError. An operator's use of another user's disk is logged."""
    owner = user_id if user_id not in {"", caller.user_name} else caller.user_id
    if owner != caller.user_id and caller.oversees:
        # The scheduler knows ids only, and would answer that nobody has disks.
        request = GetUserRequest(caller_token_id=caller.token_id, user=owner)
        owner = (await call(gateway.upstreams.identity.GetUser, request, {"user": "user_id"})).user.user_id
    asker = Asker(caller.user_id, () if caller.oversees else caller.visible_account_ids)
    standing = standing_of(asker, Belonging(owner, is_personal=True))
    if standing is None:
        raise ProblemError(Problem(403, "Disks of others are for operators and administrators; leave user_id out."))
    if standing is not Standing.OWNER:
        log.info("audit: a disk of another user", extra={"by": caller.user_id, "standing": standing, "owner": owner})
    return owner


async def _shown(gateway: Gateway, disk: pb.Disk) -> Disk:
    return disk_of(disk, await names_of(gateway, {disk.user_id}))
