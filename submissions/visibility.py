"""Who may see a submission beside the people of its account."""

from __future__ import annotations

from enum import StrEnum

from wavepool.scheduler.v1 import scheduler_pb2


class Visibility(StrEnum):
    """Who else may read a submission's code and result; its cost, its account and its queue nobody."""

    PRIVATE = "private"
    """Nobody."""
    LINK = "link"
    """Every user who knows its id."""
    PUBLIC = "public"
    """Every user; it is listed, and rankings give its id."""

    @property
    def number(self) -> scheduler_pb2.Visibility.ValueType:
        """The proto's number."""
        return scheduler_pb2.Visibility.Value(f"VISIBILITY_{self.name}")


VISIBILITIES = {one.number: one for one in Visibility}
"""By their proto numbers; 0 and the numbers of newer programs are missing."""
