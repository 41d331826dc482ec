"""The faults that dstack's words for a run's end mean to the pool.

The words are dstack 0.22's `JobTerminationReason` and `RunTerminationReason`. An unknown word of a newer version means
Fault.PROVIDER; it is kept, counted and logged.
"""

from __future__ import annotations

from collections.abc import Mapping

from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.fault import Fault

log = get_logger(__name__)

JOB_FAULTS: Mapping[str, Fault] = {
    # dstack says this of a missing or full fleet too, and of a cloud that refuses to create the machine.
    "failed_to_start_due_to_no_capacity": Fault.NO_CAPACITY,
    "interrupted_by_no_capacity": Fault.INTERRUPTED,
    "instance_unreachable": Fault.UNREACHABLE,
    "instance_access_revoked": Fault.MISCONFIGURED,
    "waiting_instance_limit_exceeded": Fault.START_TIMEOUT,
    "waiting_runner_limit_exceeded": Fault.START_TIMEOUT,
    "terminated_by_user": Fault.PROVIDER,
    "volume_error": Fault.PROVIDER,
    "gateway_error": Fault.PROVIDER,
    "scaled_down": Fault.PROVIDER,
    "done_by_runner": Fault.EXECUTOR_EXITED,
    "aborted_by_user": Fault.PROVIDER,
    "terminated_by_server": Fault.PROVIDER,
    "inactivity_duration_exceeded": Fault.PROVIDER,
    "terminated_due_to_utilization_policy": Fault.PROVIDER,
    "container_exited_with_error": Fault.EXECUTOR_EXITED,
    "ports_binding_failed": Fault.PROVIDER,
    "creating_container_error": Fault.MISCONFIGURED,
    "executor_error": Fault.PROVIDER,
    "max_duration_exceeded": Fault.EXPIRED,
    "log_quota_exceeded": Fault.PROVIDER,
}

RUN_FAULTS: Mapping[str, Fault] = {
    "all_jobs_done": Fault.EXECUTOR_EXITED,
    "job_failed": Fault.PROVIDER,
    "retry_limit_exceeded": Fault.NO_CAPACITY,
    "stopped_by_user": Fault.PROVIDER,
    "aborted_by_user": Fault.PROVIDER,
    "server_error": Fault.PROVIDER,
    "gateway_error": Fault.PROVIDER,
}


def fault_of(job_reason: str, run_reason: str) -> Fault:
    """The fault of a run. If there are both reasons, the job's counts, because it says more than the run's."""
    if job_reason:
        return _fault("job termination reason", job_reason, JOB_FAULTS)
    if run_reason:
        return _fault("run termination reason", run_reason, RUN_FAULTS)
    return Fault.PROVIDER


def note_unknown_word(kind: str, word: str) -> None:
    """Count and log a word that we do not know. It comes from a newer dstack and should be added here."""
    metrics.provider_words_unknown.labels("dstack", kind).inc()
    log.warning("dstack says something that we do not know", extra={"kind": kind, "word": word})


def _fault(kind: str, word: str, faults: Mapping[str, Fault]) -> Fault:
    fault = faults.get(word)
    if fault is None:
        note_unknown_word(kind, word)
        return Fault.PROVIDER
    return fault
