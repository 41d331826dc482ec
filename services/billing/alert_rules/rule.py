"""Readings that sources report, and the rules that watch them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from services.billing.errors import InvalidFieldError

ACCOUNT_LABEL = "account"
"""The label that makes an alert an account's: its owner sees it. All other alerts are the operator's."""

MAX_NAME_CHARACTERS = 100
MAX_LABELS = 10
MAX_TEXT_CHARACTERS = 200
"""Limit of a label's value and of a detail, which end up in titles of messages."""

_NAME = re.compile(r"[a-z][a-z0-9_.-]*")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Severity(StrEnum):
    """How soon somebody should look."""

    INFO = "INFO"
    WARNING = "WARNING"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        """0 for INFO, and more for what is more severe."""
        return list(Severity).index(self)


class Comparison(StrEnum):
    """How a value is compared with a threshold."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"

    def holds(self, value: float, threshold: float) -> bool:
        """True if the value is on the alarming side of the threshold."""
        match self:
            case Comparison.AT_LEAST:
                return value >= threshold
            case Comparison.ABOVE:
                return value > threshold
            case Comparison.AT_MOST:
                return value <= threshold
            case Comparison.BELOW:
                return value < threshold


@dataclass(frozen=True)
class Rule:
    """An alert fires when a reading has been beyond `threshold` for `for_duration`.

    It resolves when the reading is no longer beyond `clear_threshold`, which is the threshold itself or lies on its
    calm side: the distance between the two keeps a value that trembles at the threshold from firing again and again.
    """

    name: str
    severity: Severity
    reading: str
    comparison: Comparison
    threshold: float
    clear_threshold: float
    for_duration: timedelta
    summary: str
    """Text for people; `{value}`, `{threshold}` and the names of labels and details in braces are filled in."""

    def is_breached(self, value: float) -> bool:
        """True if the value asks for an alert."""
        return self.comparison.holds(value, self.threshold)

    def is_cleared(self, value: float) -> bool:
        """True if the value ends a firing alert."""
        return not self.comparison.holds(value, self.clear_threshold)


@dataclass(frozen=True)
class Reading:
    """One value of one thing at one time. The labels tell things apart; the details only serve the texts."""

    name: str
    value: float
    time: datetime
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    details: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def key(self) -> str:
        """The labels as one text, the same for equal labels."""
        return labels_text(self.labels)


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels as JSON, sorted by name."""
    return json.dumps(dict(sorted(labels.items())), separators=(",", ":"), ensure_ascii=False)


def summary_of(rule: Rule, reading: Reading) -> str:
    """The rule's text with the figures of a reading; a placeholder that the reading does not know stays as it is."""
    known = {
        "value": f"{reading.value:.6g}",
        "threshold": f"{rule.threshold:.6g}",
        "reading": reading.name,
        **reading.labels,
        **reading.details,
    }
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), rule.summary)


def check_reading(reading: Reading) -> Reading:
    """Gives the reading back; raises InvalidFieldError with the name of the wrong field."""
    check_name("name", reading.name)
    if not math.isfinite(reading.value):
        raise InvalidFieldError("value", f"must be a finite number; {reading.name} has {reading.value}")
    for group, texts in (("labels", reading.labels), ("details", reading.details)):
        if len(texts) > MAX_LABELS:
            raise InvalidFieldError(group, f"must be at most {MAX_LABELS}; {reading.name} has {len(texts)}")
        for name, text in texts.items():
            if not 0 < len(name) <= MAX_NAME_CHARACTERS or len(text) > MAX_TEXT_CHARACTERS or not text.isprintable():
                raise InvalidFieldError(
                    group, f"must be printable, at most {MAX_TEXT_CHARACTERS} characters each; see {name[:80]!r}"
                )
    return reading


def check_name(field_name: str, name: str) -> str:
    """Gives a name of a reading, rule or source back; raises InvalidFieldError if it is none."""
    if len(name) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(name):
        raise InvalidFieldError(
            field_name,
            f'must be 1 to {MAX_NAME_CHARACTERS} characters of a-z, 0-9, "_", "." and "-" and begin with a letter; '
            f"it is {name[:80]!r}",
        )
    return name
