"""What a device's machine is made of, as its drivers tell. Empty and 0 stand for what they do not tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class PartitionMode:
    """A mode that a GPU can be partitioned in; `settable` says whether this process may set it."""

    name: str
    settable: bool = False


@dataclass(frozen=True)
class GpuFacts:
    """A GPU, whatever it is partitioned into; `device_count` is how many devices it shows itself as."""

    index: int
    title: str = ""
    uuid: str = ""
    architecture: str = ""
    bus_address: str = ""
    memory_mib: int = 0
    compute_units: int = 0
    compute_partition: str = ""
    memory_partition: str = ""
    compute_partition_modes: Sequence[PartitionMode] = ()
    memory_partition_modes: Sequence[PartitionMode] = ()
    device_count: int = 1
    firmware: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class UnreadFact:
    """A field that could not be read, and why."""

    field: str
    reason: str


@dataclass(frozen=True)
class DeviceFacts:
    """The GPUs that leases can be on, in the order of their devices, and what they are driven by."""

    gpus: Sequence[GpuFacts] = ()
    rocm_version: str = ""
    cuda_version: str = ""
    driver_version: str = ""
    unread: Sequence[UnreadFact] = ()


@runtime_checkable
class Inventoried(Protocol):
    """A device that knows its GPUs: an addition to Device, found out by `isinstance`."""

    def facts(self) -> DeviceFacts:
        """What is there now, read anew. Faults of drivers are told in `unread`, and nothing is raised."""
        ...


class Answers:
    """Answers of a driver to named questions, some of which it refused.

    Drivers write "N/A" and the like for what they do not know; that is not reported, and not a fault.
    """

    def __init__(self, answers: Mapping[str, object], faults: Mapping[str, str], place: str = "") -> None:
        self._answers = answers
        self._faults = faults
        self._place = place

    def text(self, question: str, key: str = "") -> str:
        """The answer, or the part of it named `key`, as text."""
        answer = self._part(question, key) if key else self._answers.get(question)
        text = answer.strip() if isinstance(answer, str) else ""
        return "" if text in _NOT_REPORTED else text

    def number(self, question: str, key: str = "") -> int:
        """The same as a number; 0 where it is none, or negative."""
        answer = self._part(question, key) if key else self._answers.get(question)
        return max(0, answer) if isinstance(answer, int) else 0

    def is_reported(self, question: str) -> bool:
        """Whether there is an answer at all."""
        return self._answers.get(question) is not None

    def entries(self, question: str, key: str) -> list[object]:
        """A list in the answer."""
        found = self._part(question, key)
        return list(cast("Sequence[object]", found)) if isinstance(found, list | tuple) else []

    def _part(self, question: str, key: str) -> object:
        answer = self._answers.get(question)
        return cast("dict[str, Any]", answer).get(key) if isinstance(answer, dict) else None

    def unread(self, fields: Mapping[str, str]) -> list[UnreadFact]:
        """What stays open because a question was refused; `fields` maps questions to what they are asked for."""
        return [
            UnreadFact(f"{self._place}{name}", self._faults[question])
            for question, name in fields.items()
            if question in self._faults
        ]


_NOT_REPORTED = frozenset({"", "N/A", "NA", "n/a", "[N/A]", "[Not Supported]", "UNKNOWN", "Unknown"})
