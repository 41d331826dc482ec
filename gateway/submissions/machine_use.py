"""How a submission uses its machine, and the message for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from wavepool.scheduler.v1 import scheduler_pb2

_PREFIX = "MACHINE_REUSE_"


class Reuse(StrEnum):
    """Which machines a submission may run on."""

    REUSE = "reuse"
    REUSE_OR_CREATE = "reuse-or-create"
    CREATE = "create"


_NUMBERS = {one: scheduler_pb2.MachineReuse.Value(_PREFIX + one.name) for one in Reuse}


class MachineUse(BaseModel):
    """How a submission uses its machine."""

    model_config = ConfigDict(extra="forbid")

    reuse: Annotated[
        Reuse,
        Field(
            description="`reuse-or-create`: any machine, and one is started if none has room. `reuse`: none is started "
            "for it. `create`: one that is started for it and has served no other run."
        ),
    ] = Reuse.REUSE_OR_CREATE

    def to_proto(self) -> scheduler_pb2.MachineUse:
        """The message for a job."""
        return scheduler_pb2.MachineUse(reuse=_NUMBERS[self.reuse])


class AdmittedMachineUse(BaseModel):
    """How a submission uses its machine, with what it left out."""

    reuse: Annotated[str, Field(description="reuse, reuse-or-create or create.")]


def admitted_machine_use(use: scheduler_pb2.MachineUse) -> AdmittedMachineUse:
    """How a job uses its machine; a new word is shown as the scheduler names it."""
    number = use.reuse or scheduler_pb2.MACHINE_REUSE_REUSE_OR_CREATE
    known = number in scheduler_pb2.MachineReuse.values()
    name = scheduler_pb2.MachineReuse.Name(number).removeprefix(_PREFIX) if known else str(number)
    return AdmittedMachineUse(reuse=name.lower().replace("_", "-"))
