"""The status of a job's last frame."""

from __future__ import annotations

from gateway.words.enum_names import job_state_name, mode_name, verdict_name
from vocabulary import verdicts


def final_status(mode: int, state: int, verdict: int) -> str:
    """The verdict's status in `vocabulary.verdicts`, unless the job was cancelled or has failed."""
    return verdicts.final_status(job_state_name(state), verdict_name(verdict), mode_name(mode))
