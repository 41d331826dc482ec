"""The status of a job's last frame."""

from __future__ import annotations

from wavepool.scheduler.v1.scheduler_pb2 import JOB_STATE_CANCELLED, JOB_STATE_FAILED

from gateway.words.enum_names import mode_name, verdict_name
from vocabulary.verdicts import CANCELLED, OUR_STATUS, status_of


def final_status(mode: int, state: int, verdict: int) -> str:
    """The verdict's status in `vocabulary.verdicts`, unless the job was cancelled or has failed."""
    if state == JOB_STATE_CANCELLED:
        return CANCELLED
    if state == JOB_STATE_FAILED:
        return OUR_STATUS
    return status_of(verdict_name(verdict), mode_name(mode))
