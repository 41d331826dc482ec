"""Keeps the texts of jobs that were just submitted, so that a job that runs at once need not be read back."""

from __future__ import annotations

from collections import OrderedDict

from wavepool.submission.v1.submission_pb2 import Submission

MAX_BYTES = 64 << 20


class RecentTexts:
    """The texts of the last jobs, up to a total size in bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._texts: OrderedDict[str, Submission] = OrderedDict()
        self._free_bytes = max_bytes

    def put(self, job_id: str, texts: Submission) -> None:
        """Keeps a job's texts until newer ones need the space."""
        self._texts[job_id] = texts
        self._free_bytes -= texts.ByteSize()
        while self._free_bytes < 0:
            self._free_bytes += self._texts.popitem(last=False)[1].ByteSize()

    def look(self, job_id: str) -> Submission | None:
        """Gives the texts and keeps them; None if they were dropped."""
        return self._texts.get(job_id)

    def take(self, job_id: str) -> Submission | None:
        """Gives the texts and drops them, for their last reader; None if they were dropped already."""
        texts = self._texts.pop(job_id, None)
        self._free_bytes += texts.ByteSize() if texts else 0
        return texts
