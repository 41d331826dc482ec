"""Limits and defaults that several programs share."""

from __future__ import annotations

from datetime import timedelta

MAX_SOURCE_BYTES = 1 << 20
"""Limit for a submission's source."""
MAX_DEFINITION_BYTES = 256 << 10
"""Limit for a problem definition that comes with a submission."""
MAX_PLAN_BYTES = 64 << 10
"""Limit for a launch plan, as JSON."""
DEFAULT_DTYPE = "float32"
"""Element type of submissions that name none."""
CUDA = "cuda"
"""The language of submissions that their authors sent as CUDA; they are compiled as HIP."""
MAX_LISTING_BYTES = 256 << 10
"""Limit for the ISA listing of a submission, as text."""
LONGEST_RUN = timedelta(minutes=15)
"""Limit for one run, unless SCHEDULER_LONGEST_RUN sets another."""
LONGEST_BILLED = timedelta(days=400)
"""Limit for minimums and increments of billed time: longer than all that providers sell by the machine."""
MIN_PRIORITY, MAX_PRIORITY = -100, 100
"""The priorities that a submission may have; a queue says who may ask for those above 0."""
DEFAULT_QUEUE = "default"
"""The queue that always exists, and takes the jobs that name none."""
