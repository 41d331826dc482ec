"""Documents that describe queues, in the form of Kaiwo's KaiwoQueue with fields of our own, and their conversion."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from wavepool.scheduler.v1 import queues_pb2

from gateway.words.answer_words import Documented
from gateway.words.enum_names import fairness_policy_word, reclaim_strategy_word
from vocabulary.limits import MAX_PRIORITY
from vocabulary.names import none_of

API_VERSION = "kaiwo.ai/v1alpha2"
KIND = "KaiwoQueue"
EXAMPLE: dict[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": KIND,
    "metadata": {"name": "red"},
    "spec": {
        "displayName": "Team Red",
        "parentQueue": "lab",
        "priority": 100,
        "resources": {"gpu": {"quota": 4, "overQuotaWeight": 1, "limit": 8}},
        "fairness": {"policy": "kai", "reclaimStrategy": "conservative"},
    },
}

_POLICIES = {
    "kai": queues_pb2.FAIRNESS_POLICY_KAI,
    "kueue": queues_pb2.FAIRNESS_POLICY_KUEUE,
    # Dominant resource fairness is what `kueue` divides by.
    "drf": queues_pb2.FAIRNESS_POLICY_KUEUE,
}
_STRATEGIES = {
    "conservative": queues_pb2.RECLAIM_STRATEGY_CONSERVATIVE,
    "aggressive": queues_pb2.RECLAIM_STRATEGY_AGGRESSIVE,
}
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")
_LONGEST_SECONDS = 366 * 24 * 3600


def _policy(word: str) -> str:
    return _known(word, _POLICIES)


def _strategy(word: str) -> str:
    return _known(word, _STRATEGIES)


def _known(word: str, names: Mapping[str, int]) -> str:
    if word.strip().casefold() not in names:
        raise ValueError(none_of(word, list(names)))
    return word.strip().casefold()


def _seconds(value: object) -> object:
    """Seconds of a number, or of a text such as `90s`, `5m` or `1h`."""
    if isinstance(value, str) and (found := _DURATION.fullmatch(value.strip())):
        return float(found[1]) * _UNIT_SECONDS[found[2]]
    return value


_DURATIONS = "Seconds, or `5m`."
_DurationText = Annotated[str, Field(pattern=f"^{_DURATION.pattern}$")]
_NotNegative = Annotated[float, Field(ge=0, le=_LONGEST_SECONDS)]
_Runtime = Annotated[
    _NotNegative | None,
    BeforeValidator(_seconds),
    Documented(_NotNegative | _DurationText | None),
    Field(description=_DURATIONS),
]
_AtLeastOne = Annotated[float, Field(ge=1, le=_LONGEST_SECONDS)]
_TimeLimit = Annotated[
    _AtLeastOne | None,
    BeforeValidator(_seconds),
    Documented(_AtLeastOne | _DurationText | None),
    Field(description=_DURATIONS),
]
_Amount = Annotated[float | None, Field(ge=-1, le=1_000_000, allow_inf_nan=False, description="GPUs; -1: no limit.")]


_DURATION_FIELDS: tuple[Literal["time_limit", "longest_borrowing", "recall_notice"], ...] = (
    "time_limit",
    "longest_borrowing",
    "recall_notice",
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, strict=True)


class ResourceDocument(_Strict):
    """The GPUs that a queue may have of one type, or of each (`gpu`)."""

    quota: _Amount = None
    over_quota_weight: _Amount = Field(default=None, alias="overQuotaWeight")
    limit: _Amount = None
    lending_limit: _Amount = Field(default=None, alias="lendingLimit")
    borrowing_limit: _Amount = Field(default=None, alias="borrowingLimit")


class FairnessDocument(_Strict):
    """How GPUs are divided, and when a queue takes some back."""

    policy: Annotated[str, AfterValidator(_policy)] | None = None
    reclaim_strategy: Annotated[str, AfterValidator(_strategy)] | None = Field(default=None, alias="reclaimStrategy")
    reclaim_min_runtime: _Runtime = Field(default=None, alias="reclaimMinRuntime")


class JobClassDocument(_Strict):
    """A class that submissions to the queue may name."""

    value: Annotated[
        int, Field(ge=-1000, le=1000, description="Points; the ordering defines what a point is worth.")
    ] = 0
    administrators_only: bool = Field(default=False, alias="administratorsOnly")


_MaxPriority = Annotated[
    int, Field(ge=0, le=MAX_PRIORITY, description="A higher priority needs an administrator's token.")
]
_Name = Annotated[str, Field(max_length=63)]


class QueueSpecDocument(_Strict):
    """A queue's settings."""

    display_name: Annotated[str, Field(max_length=200)] = Field(default="", alias="displayName")
    parent_queue: Annotated[str, Field(max_length=63)] = Field(default="", alias="parentQueue")
    priority: Annotated[int | None, Field(ge=-1_000_000, le=1_000_000)] = None
    resources: Annotated[dict[str, ResourceDocument], Field(max_length=50)] = {}
    fairness: FairnessDocument = FairnessDocument()
    max_jobs_per_user: Annotated[int, Field(ge=0, le=1_000_000)] = Field(default=0, alias="maxJobsPerUser")
    closed: bool = False
    time_limit: _TimeLimit = Field(default=None, alias="timeLimit")
    longest_borrowing: _Runtime = Field(default=None, alias="longestBorrowing")
    recall_notice: _Runtime = Field(default=None, alias="recallNotice")
    ordering: Annotated[_Name, Field(description="`age`, `classic` or the name of a plug-in.")] = ""
    placement: Annotated[_Name, Field(description="`pack`, `spread` or the name of a plug-in.")] = ""
    classes: Annotated[dict[str, JobClassDocument], Field(max_length=50)] = {}
    default_class: _Name = Field(default="", alias="defaultClass")
    max_priority: _MaxPriority | None = Field(default=None, alias="maxPriority")
    max_priority_by_account: Annotated[dict[str, _MaxPriority], Field(max_length=1000)] = Field(
        default={}, alias="maxPriorityByAccount"
    )


class QueueMetadata(BaseModel):
    """The name; labels and what else Kubernetes puts here are not looked at."""

    name: Annotated[str, Field(min_length=1, max_length=63)]


class QueueDocument(_Strict):
    """One queue. `status` is what others wrote of it, and is not looked at."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE]})

    apiVersion: Literal["kaiwo.ai/v1alpha2"]  # noqa: N815 - Kubernetes' name
    kind: Literal["KaiwoQueue"]
    metadata: QueueMetadata
    spec: QueueSpecDocument = QueueSpecDocument()
    status: dict[str, Any] | None = None

    def queue(self) -> queues_pb2.Queue:
        """The queue that it describes."""
        spec, fairness = self.spec, self.spec.fairness
        queue = queues_pb2.Queue(
            name=self.metadata.name,
            display_name=spec.display_name,
            parent=spec.parent_queue,
            priority=spec.priority,
            resources={
                name: queues_pb2.QueueResource(**resource.model_dump(exclude_none=True))
                for name, resource in spec.resources.items()
            },
            max_jobs_per_user=spec.max_jobs_per_user,
            closed=spec.closed,
            ordering=spec.ordering,
            placement=spec.placement,
            classes={name: queues_pb2.JobClass(**one.model_dump()) for name, one in spec.classes.items()},
            default_class=spec.default_class,
            max_priority=spec.max_priority,
            max_priority_by_account=spec.max_priority_by_account,
        )
        for name in _DURATION_FIELDS:
            if (seconds := getattr(spec, name)) is not None:
                getattr(queue, name).FromTimedelta(timedelta(seconds=seconds))
        if fairness.policy:
            queue.policy = _POLICIES[fairness.policy]
        if fairness.reclaim_strategy:
            queue.reclaim_strategy = _STRATEGIES[fairness.reclaim_strategy]
        if fairness.reclaim_min_runtime is not None:
            queue.reclaim_min_runtime.FromTimedelta(timedelta(seconds=fairness.reclaim_min_runtime))
        return queue


def classes_of(classes: Mapping[str, queues_pb2.JobClass]) -> dict[str, dict[str, Any]]:
    """Classes of a document."""
    return {
        name: JobClassDocument(value=one.value, administratorsOnly=one.administrators_only).model_dump(
            by_alias=True, exclude_defaults=True
        )
        for name, one in sorted(classes.items())
    }


def document_of(queue: queues_pb2.Queue, account_ids: Collection[str] | None = None) -> dict[str, Any]:
    """The document that describes a queue; applied again, it changes nothing.

    With `account_ids`, it says nothing of other accounts: for people who may not apply it.
    """
    fairness: dict[str, Any] = {}
    if queue.policy:
        fairness["policy"] = fairness_policy_word(queue.policy)
    if queue.reclaim_strategy:
        fairness["reclaimStrategy"] = reclaim_strategy_word(queue.reclaim_strategy)
    if queue.HasField("reclaim_min_runtime"):
        fairness["reclaimMinRuntime"] = f"{queue.reclaim_min_runtime.ToTimedelta().total_seconds():g}s"
    spec: dict[str, Any] = {
        "displayName": queue.display_name,
        "parentQueue": queue.parent,
        "priority": queue.priority,
        "resources": {
            name: ResourceDocument(
                **{field.name: value for field, value in resource.ListFields()},
            ).model_dump(by_alias=True, exclude_none=True)
            for name, resource in sorted(queue.resources.items())
        },
        "fairness": fairness,
        "maxJobsPerUser": queue.max_jobs_per_user,
        "closed": queue.closed,
        "ordering": queue.ordering,
        "placement": queue.placement,
        "classes": classes_of(queue.classes),
        "defaultClass": queue.default_class,
        "maxPriorityByAccount": {
            account_id: most
            for account_id, most in sorted(queue.max_priority_by_account.items())
            if account_ids is None or account_id in account_ids
        },
    }
    for name in _DURATION_FIELDS:
        if queue.HasField(name):
            spec[QueueSpecDocument.model_fields[name].alias or name] = (
                f"{getattr(queue, name).ToTimedelta().total_seconds():g}s"
            )
    if queue.HasField("max_priority"):
        spec["maxPriority"] = queue.max_priority
    kept = {name: value for name, value in spec.items() if value or name == "maxPriority"}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": queue.name}, "spec": kept}
