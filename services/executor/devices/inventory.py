"""The hardware behind a device, as its drivers report it. Empty and 0 stand for unknown values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class PartitionMode:
    """A partition mode of a GPU; `settable` is True if this process may set it."""

    name: str
    settable: bool = False


@dataclass(frozen=True)
class GpuFacts:
    """A whole GPU, partitioned or not; it appears as `device_count` devices."""

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
    """A field that could not be read, with the reason."""

    field: str
    reason: str


@dataclass(frozen=True)
class DeviceFacts:
    """The GPUs that can be leased, in the order of their devices, and their driver and software."""

    gpus: Sequence[GpuFacts] = ()
    rocm_version: str = ""
    cuda_version: str = ""
    driver_version: str = ""
    unread: Sequence[UnreadFact] = ()


@runtime_checkable
class Inventoried(Protocol):
    """A device that knows its GPUs: an addition to Device, found with `isinstance`."""

    def facts(self) -> DeviceFacts:
        """Return the facts, read again. Driver faults are listed in `unread`, and nothing is raised."""
        ...


class Answers:
    """A driver's answers to named questions, some of which it refused.

    Drivers write "N/A" and the like for unknown values; these are neither reported nor faults.
    """

    def __init__(self, answers: Mapping[str, object], faults: Mapping[str, str], place: str = "") -> None:
        self._answers = answers
        self._faults = faults
        self._place = place

    def text(self, question: str, key: str = "") -> str:
        """Return the answer, or its part named `key`, as text; empty if there is none."""
        answer = self._part(question, key) if key else self._answers.get(question)
        text = answer.strip() if isinstance(answer, str) else ""
        return "" if text in _NOT_REPORTED else text

    def number(self, question: str, key: str = "") -> int:
        """Return the answer, or its part named `key`, as a number; 0 if it is none or negative."""
        answer = self._part(question, key) if key else self._answers.get(question)
        return max(0, answer) if isinstance(answer, int) else 0

    def is_reported(self, question: str) -> bool:
        """Return True if there is an answer."""
        return self._answers.get(question) is not None

    def entries(self, question: str, key: str) -> list[object]:
        """Return a list in the answer; empty if there is none."""
        found = self._part(question, key)
        return list(cast("Sequence[object]", found)) if isinstance(found, list | tuple) else []

    def _part(self, question: str, key: str) -> object:
        answer = self._answers.get(question)
        return cast("dict[str, Any]", answer).get(key) if isinstance(answer, dict) else None

    def unread(self, fields: Mapping[str, str]) -> list[UnreadFact]:
        """Return the fields whose questions were refused; `fields` maps questions to the fields that they serve."""
        return [
            UnreadFact(f"{self._place}{name}", self._faults[question])
            for question, name in fields.items()
            if question in self._faults
        ]


_NOT_REPORTED = frozenset({"", "N/A", "NA", "n/a", "[N/A]", "[Not Supported]", "UNKNOWN", "Unknown"})
