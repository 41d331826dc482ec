"""GPU time that credit is to be put aside for, in the words of a refusal: what was asked for, and what is possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from services.billing.errors import NotCoveredError
from vocabulary.money import WHOLE_GPU, Tariff, dollars_text

_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@dataclass(frozen=True)
class WantedTime:
    """The longest time that work may take, on GPUs of one of the types that have these prices.

    `held_micros` is on hold for the work already: the time is that of an extension, with what was before it.
    """

    longest: timedelta
    tariffs: Mapping[str, Tariff]
    held_micros: int = 0

    def possible(self, room_micros: int) -> timedelta:
        """The longest time that so much more pays for on each of the GPU types, in whole minutes if it is one."""
        paid = min(tariff.longest_for(self.held_micros + room_micros) for tariff in self.tariffs.values())
        unit = _MINUTE if paid >= _MINUTE else _SECOND
        return paid // unit * unit

    def needed(self, time: timedelta) -> int:
        """What a hold for this time needs, beside what is on hold."""
        return max(0, max(tariff.cost_micros(time) for tariff in self.tariffs.values()) - self.held_micros)

    def explain(self, error: NotCoveredError, affordable: Mapping[str, int] = MappingProxyType({})) -> NotCoveredError:
        """The same refusal with what was asked for, and the time and the GPU types that would be possible."""
        in_all, more = (" in all", " more") if self.held_micros else ("", "")
        possible = self.possible(error.room_micros)
        asked = f"{self._gpus()} for {duration_text(self.longest)}{in_all} {{}}{more}"
        needs = dollars_text(self.needed(possible))
        offer = f"{duration_text(possible)}{in_all}, which needs {needs}{more}" if possible else ""
        return error.explained(asked, offer, affordable)

    def _gpus(self) -> str:
        tariff = next(iter(self.tariffs.values()))
        part = "" if tariff.eighths == WHOLE_GPU else f"{tariff.eighths}/{WHOLE_GPU} of "
        return f"{part}{tariff.gpus} GPUs" if tariff.gpus > 1 else f"{part}{'a' if part else '1'} GPU"


def duration_text(duration: timedelta) -> str:
    """A duration for people, such as `24 h`, `2 h 30 min` or `90 min` as `1 h 30 min`."""
    hours, rest = divmod(duration, _HOUR)
    minutes, seconds = divmod(rest, _MINUTE)
    parts = [(hours, "h"), (minutes, "min"), (seconds.total_seconds(), "s")]
    return " ".join(f"{amount:g} {unit}" for amount, unit in parts if amount) or "0 s"
