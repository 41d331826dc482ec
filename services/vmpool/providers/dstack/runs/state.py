"""Maps a run of dstack to a machine's state: a pure function of the server's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.vmpool.providers.dstack.config import Market
from services.vmpool.providers.dstack.runs.fault import fault_of, note_unknown_word
from services.vmpool.providers.dstack.runs.run import Job, Run
from services.vmpool.providers.provider import Observation, ProviderState, Resource
from vocabulary.money import micros_of

_S = ProviderState

# A run or job that is terminating is over for us: its executor is being ended, and dstack has written down the reason.
# The machine itself is still there, and `release` deals with it.
RUN_STATES: Mapping[str, ProviderState] = {
    "pending": _S.PENDING,
    "submitted": _S.PENDING,
    "provisioning": _S.PENDING,
    "running": _S.RUNNING,
    "terminating": _S.ENDED,
    "terminated": _S.ENDED,
    "failed": _S.ENDED,
    "done": _S.ENDED,
}

JOB_STATES: Mapping[str, ProviderState] = {
    "submitted": _S.PENDING,
    "provisioning": _S.PENDING,
    "pulling": _S.PENDING,
    "running": _S.RUNNING,
    "terminating": _S.ENDED,
    "terminated": _S.ENDED,
    "aborted": _S.ENDED,
    "failed": _S.ENDED,
    "done": _S.ENDED,
}

TERMINATING = "terminating"
"""dstack's word for runs, jobs and instances that are on their way to the end."""

FINAL_RUN_STATUSES = frozenset({"terminated", "failed", "done"})
"""Statuses that no run leaves; stopped and aborted runs end in `terminated`."""


_STOPPED_RUN_WORDS = frozenset({"done", "terminated", "all_jobs_done", "stopped_by_user", "aborted_by_user"})
"""Statuses and termination reasons of runs that ended without a fault."""

_STOPPED_JOB_REASONS = frozenset({"done_by_runner", "terminated_by_user", "aborted_by_user"})


def observation(run: Run) -> Observation:
    """The machine's state. A RUNNING machine does not have its endpoint yet."""
    return replace(_observed(run), resource=Resource(run.name, run.run_id))


def _observed(run: Run) -> Observation:
    state, stage = _state(run)
    job = run.job
    if state is _S.ENDED:
        return Observation(
            _S.STOPPED if _was_stopped(run) else state,
            reason=story(run),
            fault=fault_of(job.termination_reason if job else "", run.termination_reason),
            exit_status=job.exit_status if job else None,
            rented=is_rented(run),
        )
    return Observation(
        state,
        rented=is_rented(run),
        stage=stage,
        reason=f"dstack says {stage!r}" if state is _S.UNKNOWN else "",
        backend=job.backend if job else "",
        region=job.region if job else "",
        price_micros_per_hour=None if job is None or job.price_dollars is None else micros_of(job.price_dollars),
    )


def is_rented(run: Run) -> bool:
    """True if a cloud ever gave the run a machine: dstack then knows its place and price."""
    return run.job is not None and bool(run.job.backend or run.job.price_dollars is not None or run.job.address)


def billed(seen: Observation, market: Market) -> Observation:
    """The observation with the backend's billing rules from the settings, if the backend is known."""
    if not seen.backend:
        return seen
    minimum, increment = market.minimum_of(seen.backend), market.increment_of(seen.backend)
    return replace(seen, minimum_billed=minimum, billing_increment=increment)


def story(run: Run) -> str:
    """The end of the run in dstack's own words, on one line."""
    job = run.job
    reason = (job.termination_reason if job else "") or run.termination_reason or f"{run.status}, it gives no reason"
    message = " ".join(((job.message if job else "") or run.message).split())
    status = "" if job is None or job.exit_status is None else f" (exit status {job.exit_status})"
    return f"dstack: {reason}{status}" + (f": {message}" if message else "")


def _was_stopped(run: Run) -> bool:
    """True if it ended well or on purpose. Its status says so once it is final; before that, its reason does.

    dstack says that a run which reached its longest life has failed. The pool has the same limit, and counts it as
    stopped.
    """
    job_reason = run.job.termination_reason if run.job else ""
    if job_reason == "max_duration_exceeded":
        return True
    if run.status in FINAL_RUN_STATUSES:
        return run.status in _STOPPED_RUN_WORDS
    if run.termination_reason:
        return run.termination_reason in _STOPPED_RUN_WORDS
    return job_reason in _STOPPED_JOB_REASONS


def _state(run: Run) -> tuple[ProviderState, str]:
    """The run's state, or the job's if that is further on. The stage is the more telling of the two words."""
    of_run = _known("run status", run.status, RUN_STATES)
    if of_run in {_S.ENDED, _S.UNKNOWN}:
        return of_run, run.status
    if run.job is None:
        return _S.PENDING, run.status
    of_job = _known("job status", run.job.status, JOB_STATES)
    if of_job is _S.UNKNOWN and of_run is _S.PENDING:
        return of_run, run.job.status
    if of_job is _S.RUNNING and run.job.address is None:
        return _S.PENDING, f"{run.job.status}, its address is not known yet"
    return of_job, _stage(run.job)


def _stage(job: Job) -> str:
    return job.status if job.pull_percent is None else f"{job.status} {job.pull_percent} %"


def _known(kind: str, word: str, states: Mapping[str, ProviderState]) -> ProviderState:
    state = states.get(word)
    if state is None:
        note_unknown_word(kind, word)
        return _S.UNKNOWN
    return state
