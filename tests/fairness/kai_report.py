"""Prints how many rows of KAI the engine reproduces, and why not the others: `python -m tests.fairness.kai_report`."""

from __future__ import annotations

from tests.fairness.case_rows import report
from tests.fairness.kai_replay import REPLAYS, not_applicable

if __name__ == "__main__":
    print(report("kai", REPLAYS, not_applicable))  # noqa: T201 - the report of a program
