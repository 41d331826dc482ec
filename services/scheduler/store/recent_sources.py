"""Sources of jobs that were just submitted, so that a job that runs at once is not read back first."""

from __future__ import annotations

from collections import OrderedDict

MAX_CHARACTERS = 64 << 20


class RecentSources:
    """The last sources, up to a total size; each is handed out once."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        self._sources: OrderedDict[str, str] = OrderedDict()
        self._free_characters = max_characters

    def put(self, job_id: str, source: str) -> None:
        """Keep a source until newer ones need its room."""
        self._sources[job_id] = source
        self._free_characters -= len(source)
        while self._free_characters < 0:
            self._free_characters += len(self._sources.popitem(last=False)[1])

    def take(self, job_id: str) -> str | None:
        """The source, if it is still here."""
        source = self._sources.pop(job_id, None)
        self._free_characters += len(source or "")
        return source
