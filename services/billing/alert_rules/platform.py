"""The rules that are built in for the readings of the scheduler and vmpool.

Each says what somebody should look at. The clear thresholds lie well on the calm side, and durations outlast what comes
and goes by itself: a compile, a cold start, one bad submission.
"""

from __future__ import annotations

from datetime import timedelta

from services.billing.alert_rules.rule import Comparison, Rule, Severity
from vocabulary import readings

_MINUTE = timedelta(minutes=1)
_AT_ONCE = timedelta(0)


def platform_rules() -> list[Rule]:
    """The built-in rules about machines, jobs, queues and reservations."""
    return [*_machine_rules(), *_pool_rules(), *_job_rules(), *_queue_rules(), *_reservation_rules()]


def _machine_rules() -> list[Rule]:
    return [
        Rule(
            "machine-cpu-high",
            Severity.WARNING,
            readings.MACHINE_CPU,
            Comparison.ABOVE,
            0.95,
            0.85,
            15 * _MINUTE,
            "The processors of {machine} ({gpu}, {provider}) are busy {percent} of the time.",
        ),
        Rule(
            "machine-memory-high",
            Severity.WARNING,
            readings.MACHINE_MEMORY,
            Comparison.ABOVE,
            0.92,
            0.85,
            5 * _MINUTE,
            "{percent} of the memory of {machine} ({gpu}, {provider}) is in use.",
        ),
        Rule(
            "machine-gpu-unused",
            Severity.INFO,
            readings.MACHINE_GPU,
            Comparison.BELOW,
            0.02,
            0.05,
            30 * _MINUTE,
            "The GPUs of {machine} ({gpu}, {provider}) work {percent} of the time.",
        ),
        Rule(
            "machine-idle",
            Severity.INFO,
            readings.MACHINE_LEASED,
            Comparison.BELOW,
            0.1,
            0.2,
            30 * _MINUTE,
            "Jobs use {machine} ({gpu}, {provider}) {percent} of the time, and it costs money all of it.",
        ),
    ]


def _pool_rules() -> list[Rule]:
    return [
        Rule(
            "machines-failed",
            Severity.WARNING,
            readings.FAILED_MACHINES,
            Comparison.AT_LEAST,
            1,
            1,
            _AT_ONCE,
            "{value} machines of {provider} have failed lately, most recently {machine}: {reason}",
        ),
        Rule(
            "machines-failing",
            Severity.CRITICAL,
            readings.FAILED_MACHINES,
            Comparison.AT_LEAST,
            5,
            2,
            _AT_ONCE,
            "{value} machines of {provider} have failed lately, most recently {machine}: {reason}",
        ),
        Rule(
            "pool-exhausted",
            Severity.WARNING,
            readings.UNMET_DEMAND,
            Comparison.AT_LEAST,
            1,
            1,
            15 * _MINUTE,
            "{value} jobs wait for {gpu_type}, and the pool can start no machine: {reason}",
        ),
        Rule(
            "renting-stopped",
            Severity.CRITICAL,
            readings.STOPPED_SOURCES,
            Comparison.AT_LEAST,
            1,
            1,
            _AT_ONCE,
            "No machines are rented from {value} sources, because their machines could not run jobs: {sources}",
        ),
    ]


def _job_rules() -> list[Rule]:
    return [
        Rule(
            "jobs-failing",
            Severity.CRITICAL,
            readings.FAILED_JOBS,
            Comparison.AT_LEAST,
            0.25,
            0.1,
            _AT_ONCE,
            "{failed} of the last {ended} jobs of the queue {queue} on {gpu_type} failed through our fault.",
        ),
        Rule(
            "attempts-lost",
            Severity.WARNING,
            readings.LOST_ATTEMPTS,
            Comparison.AT_LEAST,
            5,
            2,
            _AT_ONCE,
            "{value} attempts of the queue {queue} on {gpu_type} were lost lately.",
        ),
        Rule(
            "runs-slow",
            Severity.WARNING,
            readings.RUN_SLOWDOWN,
            Comparison.AT_LEAST,
            2,
            1.5,
            10 * _MINUTE,
            "Runs on {gpu_type} take {times} times as long as those of the same problems before.",
        ),
    ]


def _queue_rules() -> list[Rule]:
    return [
        Rule(
            "queue-wait-long",
            Severity.WARNING,
            readings.P90_WAIT,
            Comparison.ABOVE,
            1800,
            900,
            5 * _MINUTE,
            "{waiting} jobs of the queue {queue} wait for {gpu_type}, the first one for {minutes} minutes.",
        ),
        Rule(
            "job-waits-very-long",
            Severity.CRITICAL,
            readings.OLDEST_WAIT,
            Comparison.ABOVE,
            7200,
            3600,
            _AT_ONCE,
            "A job of the queue {queue} has waited for {gpu_type} for {minutes} minutes.",
        ),
        Rule(
            "jobs-stuck",
            Severity.CRITICAL,
            readings.STUCK_JOBS,
            Comparison.AT_LEAST,
            1,
            1,
            5 * _MINUTE,
            "{value} jobs of the queue {queue} wait for {gpu_type}, and nothing can start: {reason}",
        ),
    ]


def _reservation_rules() -> list[Rule]:
    return [
        Rule(
            name,
            severity,
            readings.RESERVATION_WARNINGS[minutes],
            Comparison.AT_MOST,
            minutes,
            minutes,
            _AT_ONCE,
            "The reservation {name} ({reservation}) ends in {minutes} minutes: save your work, or extend it.",
        )
        for name, severity, minutes in (
            ("reservation-ends-soon", Severity.INFO, 30),
            ("reservation-ends-in-15-minutes", Severity.INFO, 15),
            ("reservation-ends-in-5-minutes", Severity.WARNING, 5),
        )
    ]
