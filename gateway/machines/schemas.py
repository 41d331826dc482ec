"""Bodies of the machine routes of our HTTP interface."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from gateway.submissions.event_schemas import HeartbeatEvent
from gateway.words.answer_words import MachineFaultWord, MachineOriginWord, MachineStateWord
from gateway.words.gpu_type_field import GpuType

MOST_USD = 1_000_000
LONGEST_SECONDS = 10**11
MOST_GPUS = 2**31 - 1
"""Limits that only keep numbers in range. They are far beyond sensible values, which the pool checks."""


class SpotChoice(StrEnum):
    """The choice between on-demand machines and spot machines, which their provider may take away."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    AUTO = "auto"


class Machine(BaseModel):
    """A machine of the pool."""

    id: str
    state: MachineStateWord
    provider: str
    backend: Annotated[str, Field(description="The provider's name for its location; empty if it has none.")]
    region: str
    spot: Annotated[bool, Field(description="Its provider may take it away at any time.")]
    gpu_type: Annotated[str, Field(description="The type that was requested; `device` is the type it has.")]
    gpu_count: int
    device: Annotated[str, Field(description="`rocm`, `nvidia`, or `cpu`; times of `cpu` are ranked apart.")]
    device_title: str
    architecture: str
    memory_mib: int
    compute_units: int
    free_eighths: int
    leased_eighths: int
    reservation_ids: Annotated[list[str], Field(description="The reservations that use it or a part of it.")]
    price_usd_per_hour: float
    minimum_billed_seconds: Annotated[float, Field(description="The minimum time that is billed.")]
    billing_increment_seconds: Annotated[float, Field(description="Beyond that, time is billed in steps of these.")]
    cost_usd: Annotated[float, Field(description="Up to now; final once `release_time` is set.")]
    jobs_run: int
    origin: MachineOriginWord
    request_id: str
    max_price_usd_per_hour: Annotated[float, Field(description="The limit of its order; 0: no limit.")]
    max_duration_seconds: Annotated[float, Field(description="Its provider ends it after that time; 0: no limit.")]
    reason: Annotated[str, Field(description="Why it is in its state.")]
    provider_stage: Annotated[str, Field(description="The provider's own word for what it is doing.")]
    fault: MachineFaultWord | None
    exit_status: Annotated[int | None, Field(description="The executor's exit status, if it ended by itself.")]
    sandbox: Annotated[str, Field(description="The sandbox of untrusted code there, such as `bubblewrap`.")]
    sandbox_gaps: Annotated[list[str], Field(description="Limits of the sandbox, in sentences.")]
    torch_version: Annotated[
        str | None,
        Field(description="The program that evaluates problem definitions; null: they are not evaluated there."),
    ]
    signing_public_key: Annotated[str, Field(description="Ed25519, in hex: what its reports are signed with.")]
    create_time: datetime | None
    ready_time: datetime | None
    last_used_time: datetime | None
    end_time: datetime | None
    release_time: Annotated[datetime | None, Field(description="When its provider took it back.")]


class MachineChange(TypedDict):
    """A machine entered a state, or its provider's stage or its free slots changed."""

    status: MachineStateWord
    timestamp: Annotated[int, Field(description="Milliseconds since 1970.")]
    previous_state: MachineStateWord
    reason: str
    stage: Annotated[str, Field(description="The provider's own word.")]
    elapsed_seconds: Annotated[float, Field(description="Since the request.")]
    estimate_seconds: float | None
    estimate_p90_seconds: float | None
    machine: Machine
    final: NotRequired[Annotated[Literal[True], Field(description="Its provider has taken it back.")]]


MachineEvent = Annotated[MachineChange | HeartbeatEvent, Field(description="The data of an event.")]


class ProviderFailure(BaseModel):
    """A provider that made no offers or did not start, with the reason in its own words."""

    provider: str
    message: str


class StoppedSource(BaseModel):
    """A source that nothing is rented from any more, as too many machines in a row cost money and ran nothing."""

    provider: str
    backend: str
    gpu_type: str
    message: Annotated[str, Field(description="How the last of them failed, and what to do.")]


class ResumedRenting(BaseModel):
    """The sources (provider, backend and GPU type) that machines may be rented from again."""

    resumed_sources: list[StoppedSource]


class MachineList(BaseModel):
    """The machines of the pool; those that are over come last."""

    machines: list[Machine]
    refused_providers: Annotated[
        list[ProviderFailure], Field(description="Machines that did not start; they are tried again.")
    ]
    stopped_sources: Annotated[
        list[StoppedSource], Field(description="Nothing is rented there until `POST /providers/resume`.")
    ]


class MachineOrder(BaseModel):
    """An order for a machine. The pool chooses the values that are left out."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"examples": [{"gpu_type": "MI300X", "max_price_usd_per_hour": 3.0}]},
    )

    gpu_type: GpuType = ""
    gpu_count: Annotated[int, Field(strict=True, ge=-MOST_GPUS, le=MOST_GPUS, description="1, 2, 4 or 8.")] = 1
    provider: Annotated[str, Field(max_length=100)] = ""
    backend: Annotated[str, Field(max_length=100, description="As `GET /offers` has them.")] = ""
    region: Annotated[str, Field(max_length=100, description="As `GET /offers` has them.")] = ""
    spot: Annotated[SpotChoice | None, Field(description="Default: as the pool is set up.")] = None
    max_price_usd_per_hour: Annotated[
        float, Field(strict=True, ge=-MOST_USD, le=MOST_USD, description="Of the whole machine; 0: no limit.")
    ] = 0.0
    max_duration_seconds: Annotated[
        float,
        Field(
            strict=True, ge=-LONGEST_SECONDS, le=LONGEST_SECONDS, description="Its provider ends it then; 0: no limit."
        ),
    ] = 0.0
    force_new: Annotated[bool, Field(strict=True, description="A new machine, even if one stands ready.")] = False
    reason: Annotated[str, Field(max_length=200, description="For people.")] = ""


class OrderedMachine(BaseModel):
    """The machine that was found or started for an order."""

    machine: Machine
    started: Annotated[bool, Field(description="False: it was ready, or being started, for others.")]
    events_url: str


class Offer(BaseModel):
    """A kind of machine that can be had."""

    provider: str
    backend: str
    region: str
    gpu_type: str
    gpu_count: int
    spot: bool
    price_usd_per_hour: Annotated[float, Field(description="The operator's cost of the whole machine.")]
    charge_usd_per_hour: Annotated[
        float | None, Field(description="The price for users of all its GPUs; null: they have no price now.")
    ]
    minimum_billed_seconds: float
    billing_increment_seconds: float
    available: Annotated[bool, Field(description="False: the provider lists it but has none now.")]


class OfferList(BaseModel):
    """Kinds of machines that can be had, cheapest per GPU first."""

    offers: list[Offer]
    failures: list[ProviderFailure]


class ProviderFinding(BaseModel):
    """A provider's finding from one check."""

    provider: str
    check: str
    ok: bool
    message: str
    remedy: Annotated[str, Field(description="The remedy, if there is one.")]


class ProviderDiagnosis(BaseModel):
    """All findings of the providers."""

    findings: list[ProviderFinding]
