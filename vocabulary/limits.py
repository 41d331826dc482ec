"""Limits and defaults that several programs keep to."""

from __future__ import annotations

from datetime import timedelta

MAX_SOURCE_BYTES = 1 << 20
"""Of a submission's source."""
MAX_DEFINITION_BYTES = 256 << 10
"""Of a problem definition that comes with a submission."""
MAX_PLAN_BYTES = 64 << 10
"""Of a launch plan, as JSON."""
DEFAULT_DTYPE = "float32"
"""The element type of submissions that name none."""
MAX_LISTING_BYTES = 256 << 10
"""Of the ISA of a submission as text."""
LONGEST_RUN = timedelta(minutes=15)
"""Of one run, unless SCHEDULER_LONGEST_RUN says otherwise."""
