"""Prints how many rows of KAI the engine reproduces, by kind: `python -m tests.fairness.kai_report`."""

from __future__ import annotations

from tests.fairness.kai_replay import KINDS, all_rows, differences, not_applicable


def report() -> str:
    """One line for each kind, then each row that fails or does not apply, with the reason."""
    rows = all_rows()
    lines: list[str] = []
    details: list[str] = []
    for kind in KINDS:
        passed = failed = skipped = 0
        for row in (row for row in rows if row["kind"] == kind):
            reason = not_applicable(row)
            faults = [] if reason else differences(row)
            passed, failed, skipped = (
                passed + (not reason and not faults),
                failed + bool(faults),
                skipped + bool(reason),
            )
            if reason:
                details.append(f"{row['id']} does not apply: {reason}")
            details.extend(f"{row['id']}: {fault}" for fault in faults)
        lines.append(f"{kind}: {passed} passed, {failed} failed, {skipped} not applicable")
    return "\n".join([*lines, *details])


if __name__ == "__main__":
    print(report())  # noqa: T201 - a command prints
