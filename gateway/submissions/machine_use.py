"""How a submission uses its machine, and the message for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from google.protobuf.duration_pb2 import Duration
from pydantic import BaseModel, ConfigDict, Field
from wavepool.scheduler.v1 import scheduler_pb2

from gateway.words.answer_words import Documented

MOST_SECONDS = 7 * 24 * 3600
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
            "for it. `create`: a new machine is started for it."
        ),
    ] = Reuse.REUSE_OR_CREATE
    idle_seconds: Annotated[
        int | None,
        Field(
            strict=True,
            ge=0,
            le=MOST_SECONDS,
            description="How long its machine is kept idle after it; never longer than the pool's setting, "
            "which is also "
            "the default. Of the runs that a machine has between two idle times, the longest counts.",
        ),
    ] = None

    wait_for_operator: Annotated[
        bool,
        Field(
            strict=True,
            description="Wait although no machine can give it its GPUs, as an operator may change that. "
            "Otherwise such a submission is refused.",
        ),
    ] = False

    def to_proto(self) -> scheduler_pb2.MachineUse:
        """The message for a job."""
        idle_time = None if self.idle_seconds is None else Duration(seconds=self.idle_seconds)
        return scheduler_pb2.MachineUse(
            reuse=_NUMBERS[self.reuse], idle_time=idle_time, wait_for_operator=self.wait_for_operator
        )


def body_of_machine_use(use: scheduler_pb2.MachineUse) -> dict[str, object]:
    """The object that asks for how a job uses its machine; empty for the default."""
    found = admitted_machine_use(use).model_dump()
    plain = MachineUse().model_dump(mode="json")
    return {name: value for name, value in found.items() if value != plain[name]}


class AdmittedMachineUse(BaseModel):
    """How a submission uses its machine, with what it left out."""

    reuse: Annotated[str, Documented(Reuse)]
    idle_seconds: Annotated[int | None, Field(description="Null: as long as the pool keeps idle machines.")]
    wait_for_operator: Annotated[bool, Field(description="It waits even if no machine can give it its GPUs yet.")]


def admitted_machine_use(use: scheduler_pb2.MachineUse) -> AdmittedMachineUse:
    """How a job uses its machine; a new word is shown as the scheduler names it."""
    number = use.reuse or scheduler_pb2.MACHINE_REUSE_REUSE_OR_CREATE
    known = number in scheduler_pb2.MachineReuse.values()
    name = scheduler_pb2.MachineReuse.Name(number).removeprefix(_PREFIX) if known else str(number)
    idle_seconds = use.idle_time.seconds if use.HasField("idle_time") else None
    return AdmittedMachineUse(
        reuse=name.lower().replace("_", "-"), idle_seconds=idle_seconds, wait_for_operator=use.wait_for_operator
    )
