"""The device that each job ran on; lists tell the cpu device from the GPU type that was asked for."""

from __future__ import annotations

from collections import defaultdict

import sqlalchemy as sa
from alembic import op
from google.protobuf.message import DecodeError
from wavepool.scheduler.v1.scheduler_pb2 import JobEvent

from servicekit.db.migration.columns import with_default

revision = "0032"
down_revision = "0031"

CPU = "cpu"
MACHINES_AT_ONCE = 500
_JOBS = sa.table("jobs", *map(sa.column, ("job_id", "machine_id", "machine_device", "ran_on")))
_EVENTS = sa.table("job_events", *map(sa.column, ("job_id", "seq", "payload")))


def upgrade() -> None:
    """Adds the column, and fills it."""
    for column in with_default(sa.Text, machine_device=""):
        op.add_column("jobs", column)
    fill(op.get_bind())


def fill(connection: sa.Connection) -> None:
    """Reads the device of each machine from the events of its first or last job; without them it stays unknown."""
    row = _JOBS.c
    query = sa.select(row.machine_id, sa.func.min(row.job_id), sa.func.max(row.job_id)).where(row.machine_id != "")
    machines: dict[str, list[str]] = defaultdict(list)
    for machine_id, *job_ids in connection.execute(query.group_by(row.machine_id)).all():
        machines[_device_of(connection, machine_id, job_ids)].append(machine_id)
    machines.pop("", None)
    for device, ids in machines.items():
        values = {"machine_device": device} | ({"ran_on": CPU} if device == CPU else {})
        for start in range(0, len(ids), MACHINES_AT_ONCE):
            of_machines = row.machine_id.in_(ids[start : start + MACHINES_AT_ONCE])
            connection.execute(sa.update(_JOBS).where(of_machines).values(values))


def _device_of(connection: sa.Connection, machine_id: str, job_ids: list[str]) -> str:
    row = _EVENTS.c
    query = sa.select(row.payload).where(row.job_id.in_(job_ids)).order_by(row.job_id, row.seq)
    for payload in connection.execute(query).scalars():
        try:
            machine = JobEvent.FromString(bytes(payload)).provisioning.machine
        except DecodeError:
            continue
        if machine.machine_id == machine_id and machine.device:
            return machine.device
    return ""
