"""Limits that several programs keep to."""

from __future__ import annotations

from datetime import timedelta

LONGEST_RUN = timedelta(minutes=15)
"""Of one run, unless SCHEDULER_LONGEST_RUN says otherwise."""
