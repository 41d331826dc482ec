"""Texts of jobs that were just submitted, so that a job that runs at once is not read back first."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.scheduler.jobs.spec import Texts

MAX_CHARACTERS = 64 << 20


class RecentSources:
    """The texts of the last jobs, up to a total size."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        self._sources: OrderedDict[str, Texts] = OrderedDict()
        self._free_characters = max_characters

    def put(self, job_id: str, texts: Texts) -> None:
        """Keep a job's texts until newer ones need their room."""
        self._sources[job_id] = texts
        self._free_characters -= texts.characters
        while self._free_characters < 0:
            self._free_characters += self._sources.popitem(last=False)[1].characters

    def look(self, job_id: str) -> Texts | None:
        """The texts, if they are still here; they stay."""
        return self._sources.get(job_id)

    def take(self, job_id: str) -> Texts | None:
        """The texts, if they are still here, for whoever needs them last."""
        texts = self._sources.pop(job_id, None)
        self._free_characters += texts.characters if texts else 0
        return texts
