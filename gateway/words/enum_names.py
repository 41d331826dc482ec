"""HTTP's names for the enum numbers of the protos; unknown numbers of newer peers become `UNKNOWN_<number>`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from wavepool.billing.v1.alerts_pb2 import AlertComparison
from wavepool.billing.v1.identity_pb2 import ProfileVisibility, Role
from wavepool.executor.v1.run_event_pb2 import (
    BenchmarkStage,
    Timing,
    Verdict,
)
from wavepool.scheduler.v1.queues_pb2 import FairnessPolicy, ReclaimStrategy
from wavepool.scheduler.v1.reservations_pb2 import ReservationState
from wavepool.scheduler.v1.scheduler_pb2 import VISIBILITY_PRIVATE, JobState, Visibility
from wavepool.submission.v1.submission_pb2 import RunMode, TimingMode
from wavepool.vmpool.v1.vmpool_pb2 import MachineState, StartKind


def enum_name(name_of: Callable[[Any], str], prefix: str, number: int) -> str:
    """The name of an enum value without its prefix."""
    try:
        return name_of(number).removeprefix(prefix)
    except ValueError:
        return f"UNKNOWN_{number}"


verdict_name = partial(enum_name, Verdict.Name, "VERDICT_")
job_state_name = partial(enum_name, JobState.Name, "JOB_STATE_")
reservation_state_name = partial(enum_name, ReservationState.Name, "RESERVATION_STATE_")
machine_state_name = partial(enum_name, MachineState.Name, "MACHINE_STATE_")
start_kind_name = partial(enum_name, StartKind.Name, "START_KIND_")
benchmark_stage_name = partial(enum_name, BenchmarkStage.Name, "BENCHMARK_STAGE_")
timing_name = partial(enum_name, Timing.Name, "TIMING_")


def role_word(number: int) -> str:
    """HTTP's name for a role: `user`, `operator`, `admin`, `service`."""
    return enum_name(Role.Name, "ROLE_", number).lower()


def profile_word(number: int) -> str:
    """HTTP's name for who sees a profile: `public`, `off`."""
    return enum_name(ProfileVisibility.Name, "PROFILE_VISIBILITY_", number).lower()


def timing_mode_word(number: int) -> str | None:
    """HTTP's name for a timing mode: `cold`, `hot`, `first-call`; None for the device's default."""
    return enum_name(TimingMode.Name, "TIMING_MODE_", number).lower().replace("_", "-") if number else None


def mode_name(number: int) -> str:
    """HTTP's name for a run mode: `check`, `benchmark`, `full`, `sample`, `sandbox`."""
    return enum_name(RunMode.Name, "RUN_MODE_", number).lower()


def visibility_word(number: int) -> str:
    """HTTP's name for who may see a submission: `private`, `link`, `public`."""
    return enum_name(Visibility.Name, "VISIBILITY_", number or VISIBILITY_PRIVATE).lower()


def fairness_policy_word(number: int) -> str:
    """HTTP's name for a policy of queues: `kai`, `kueue`."""
    return enum_name(FairnessPolicy.Name, "FAIRNESS_POLICY_", number).lower()


def reclaim_strategy_word(number: int) -> str:
    """HTTP's name for when a queue takes GPUs back: `conservative`, `aggressive`."""
    return enum_name(ReclaimStrategy.Name, "RECLAIM_STRATEGY_", number).lower()


def alert_comparison_sign(number: int) -> str:
    """HTTP's sign for a comparison of an alert's rule: `>=`, `>`, `<=`, `<`."""
    name = enum_name(AlertComparison.Name, "ALERT_COMPARISON_", number)
    return {"AT_LEAST": ">=", "ABOVE": ">", "AT_MOST": "<=", "BELOW": "<"}.get(name, name)
