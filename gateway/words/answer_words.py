"""Words of answers: the document lists the ones that are known, and others, of newer services, pass as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from wavepool.billing.v1 import alerts_pb2, billing_pb2, identity_pb2, prices_pb2, reports_pb2
from wavepool.executor.v1 import run_event_pb2, session_pb2
from wavepool.scheduler.v1 import disks_pb2, queues_pb2, rankings_pb2, scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.words.enum_names import alert_comparison_sign, enum_name
from vocabulary.names import none_of
from vocabulary.verdicts import (
    STATUS_OF_ACCEPTED_MODE,
    STATUS_OF_SANDBOX_VERDICT,
    STATUS_OF_VERDICT,
    UNSPECIFIED,
    status_of,
)


@dataclass(frozen=True)
class Documented:
    """Shows another type in the OpenAPI document than the one that values are checked against."""

    shape: Any

    def __get_pydantic_json_schema__(self, checked: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of the other type."""
        # Of a chain, the handler takes the schema of the link, with a reference to the shape's own name.
        return handler(core_schema.chain_schema([TypeAdapter(self.shape).core_schema]))


def _listed(name: str, description: str, known: Iterable[str]) -> Documented:
    """Words that the document shows as an enum with a name of its own."""
    made = StrEnum(name, [(word, word) for word in dict.fromkeys(known)])
    made.__doc__ = description
    return Documented(made)


def _upper(enum: Any) -> list[str]:  # noqa: ANN401 - the stubs have a class for each enum
    prefix = enum.Name(0).removesuffix(UNSPECIFIED)
    return _shown(enum, partial(enum_name, enum.Name, prefix))


def _lower(enum: Any) -> list[str]:  # noqa: ANN401 - the stubs have a class for each enum
    return [word.lower() for word in _upper(enum)]


def _shown(enum: Any, shown: Callable[[int], str]) -> list[str]:  # noqa: ANN401 - the stubs have a class for each enum
    return [shown(number) for number in enum.values() if number]


def _one_of(listed: Documented, word: str) -> str:
    if word not in set(listed.shape):
        raise ValueError(none_of(word, list(listed.shape)))
    return word


_JOB_STATES = _listed(
    "JobState", "The state of a submission; FINISHED, CANCELLED and FAILED are final.", _upper(scheduler_pb2.JobState)
)
_VERDICTS = _listed("Verdict", "The verdict on a submission's answers.", _upper(run_event_pb2.Verdict))
_FINAL_STATUSES = _listed(
    "FinalStatus",
    "The status of a submission's last event, which follows from its verdict and its mode.",
    [
        *STATUS_OF_ACCEPTED_MODE.values(),
        *STATUS_OF_VERDICT.values(),
        status_of("WRONG_ANSWER", "sample"),
        *STATUS_OF_SANDBOX_VERDICT.values(),
    ],
)

JobStateWord = Annotated[str, _JOB_STATES]
JobStateName = Annotated[JobStateWord, AfterValidator(partial(_one_of, _JOB_STATES))]
"""One of a request, which must be known."""
VerdictWord = Annotated[str, _VERDICTS]
VerdictName = Annotated[VerdictWord, AfterValidator(partial(_one_of, _VERDICTS))]
"""One of a request, which must be known."""
FinalStatusWord = Annotated[str, _FINAL_STATUSES]
TestStatusWord = Annotated[
    str,
    _listed(
        "TestStatus",
        "The outcome of a test case. NOT_RUN: one before it failed, so that nothing is known of it.",
        ("PASSED", "FAILED", "NOT_RUN"),
    ),
]
TimingWord = Annotated[
    str,
    _listed("Timing", "How far a time can be believed; only VALID ones rank.", _upper(run_event_pb2.Timing)),
]
BenchmarkStageWord = Annotated[
    str,
    _listed(
        "BenchmarkStage",
        "MEASURING takes samples; AUDITING checks that they can be true.",
        _upper(run_event_pb2.BenchmarkStage),
    ),
]
BoundWord = Annotated[str, _listed("Bound", "The resource that limits a kernel's speed.", _upper(run_event_pb2.Bound))]
ProfileOutcomeWord = Annotated[
    str,
    _listed("ProfileOutcome", "Whether there is a profile, or why not.", _upper(run_event_pb2.ProfileOutcome)),
]
ProfileClockWord = Annotated[
    str, _listed("ProfileClock", "The clock of a profile's times.", _upper(run_event_pb2.ProfileClock))
]
ComparisonVerdictWord = Annotated[
    str,
    _listed(
        "ComparisonVerdict",
        "Of the other submission. SAME: they differ by less than 2 %. UNCLEAR: the measurements do not show it.",
        _upper(rankings_pb2.ComparisonVerdict),
    ),
]
StartKindWord = Annotated[
    str,
    _listed("StartKind", "Whether a machine was started or stood ready.", _upper(vmpool_pb2.StartKind)),
]
MachineStateWord = Annotated[
    str,
    _listed(
        "MachineState",
        "The state of a machine; STOPPED, FAILED and LOST are final.",
        _upper(vmpool_pb2.MachineState),
    ),
]
MachineOriginWord = Annotated[
    str, _listed("MachineOrigin", "Why a machine was started.", _upper(vmpool_pb2.MachineOrigin))
]
MachineFaultWord = Annotated[
    str,
    _listed(
        "MachineFault",
        "The kind of fault of a machine, in a word that says what to do next.",
        _upper(vmpool_pb2.MachineFault),
    ),
]
DiskStateWord = Annotated[str, _listed("DiskState", "The state of a disk.", _lower(disks_pb2.DiskState))]
SnapshotReasonWord = Annotated[
    str, _listed("SnapshotReason", "Why a snapshot was taken.", _lower(session_pb2.SnapshotReason))
]
QueueChangeKindWord = Annotated[
    str, _listed("QueueChangeKind", "The change of a queue.", _upper(queues_pb2.QueueChangeKind))
]
SchedulerPluginKindWord = Annotated[
    str,
    _listed(
        "SchedulerPluginKind",
        "The decision that a plug-in of the scheduler makes.",
        _lower(queues_pb2.SchedulerPluginKind),
    ),
]
AccountOwnerWord = Annotated[
    str, _listed("AccountOwner", "The kind of an account's owner.", _lower(identity_pb2.AccountOwner))
]
PostingKindWord = Annotated[
    str, _listed("PostingKind", "The kind of a movement of credit.", _upper(billing_pb2.PostingKind))
]
BudgetScopeWord = Annotated[
    str, _listed("BudgetScope", "The kind of a budget's subject.", _upper(billing_pb2.BudgetScope))
]
BudgetPeriodWord = Annotated[
    str, _listed("BudgetPeriod", "The period of a budget, in UTC.", _upper(billing_pb2.BudgetPeriod))
]
OverheadPolicyWord = Annotated[
    str,
    _listed("OverheadPolicy", "Who bears the overhead of machines.", _upper(reports_pb2.OverheadPolicy)),
]
PriceSourceWord = Annotated[str, _listed("PriceSource", "The origin of a price.", _upper(prices_pb2.PriceSource))]
AlertSeverityWord = Annotated[str, _listed("AlertSeverity", "How grave an alert is.", _upper(alerts_pb2.AlertSeverity))]
AlertPhaseWord = Annotated[
    str,
    _listed(
        "AlertPhase",
        "PENDING: the condition has not lasted long enough yet. FIRING: notifications were sent.",
        _upper(alerts_pb2.AlertPhase),
    ),
]
AlertEventWord = Annotated[str, _listed("AlertEvent", "A change of an alert.", _upper(alerts_pb2.AlertEvent))]
DeliveryOutcomeWord = Annotated[
    str, _listed("DeliveryOutcome", "The outcome of a message.", _upper(alerts_pb2.DeliveryOutcome))
]
AlertComparisonSign = Annotated[
    str,
    _listed(
        "AlertComparison",
        "How an alert's rule compares a reading with its threshold.",
        _shown(alerts_pb2.AlertComparison, alert_comparison_sign),
    ),
]
