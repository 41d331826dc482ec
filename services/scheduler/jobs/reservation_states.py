"""The states of a reservation as its users see them, and the one table of legal moves."""

from __future__ import annotations

from enum import StrEnum

from services.scheduler.jobs.states import JobState


class ReservationState(StrEnum):
    """The state of a reservation, which follows from that of its job and from what its sessions have said."""

    PENDING = "pending"
    """Has a start of its own that is far off. Left when it comes due, or is cancelled."""
    QUEUED = "queued"
    """Waits for its GPUs. Entered when it is made or comes due, and again after an attempt that was lost."""
    PREPARING = "preparing"
    """Has its machines, and opens its sessions. Left once people can log in to all, and by its end."""
    ACTIVE = "active"
    """People can log in, and its time goes on."""
    EXPIRING = "expiring"
    """Its time is up, or somebody has asked for its end; or that is being settled."""
    EXPIRED = "expired"
    """Over: its time was up, or its users ended it from inside."""
    CANCELLED = "cancelled"
    """Over: somebody ended it, nobody used it, or it waited too long."""
    FAILED = "failed"
    """Over, by our fault."""


RESERVATION_MOVES: dict[ReservationState, frozenset[ReservationState]] = {
    ReservationState.PENDING: frozenset({ReservationState.QUEUED, ReservationState.EXPIRING}),
    ReservationState.QUEUED: frozenset({ReservationState.PREPARING, ReservationState.EXPIRING}),
    ReservationState.PREPARING: frozenset(
        {ReservationState.QUEUED, ReservationState.ACTIVE, ReservationState.EXPIRING}
    ),
    ReservationState.ACTIVE: frozenset({ReservationState.EXPIRING}),
    # The first of several machines may reach its end while another is not ready: then all are tried again.
    ReservationState.EXPIRING: frozenset(
        {
            ReservationState.QUEUED,
            ReservationState.EXPIRED,
            ReservationState.CANCELLED,
            ReservationState.FAILED,
        }
    ),
    ReservationState.EXPIRED: frozenset(),
    ReservationState.CANCELLED: frozenset(),
    ReservationState.FAILED: frozenset(),
}
JOB_STATES: dict[ReservationState, frozenset[JobState]] = {
    ReservationState.PENDING: frozenset({JobState.QUEUED}),
    ReservationState.QUEUED: frozenset({JobState.QUEUED, JobState.PROVISIONING}),
    ReservationState.PREPARING: frozenset({JobState.RUNNING}),
    ReservationState.ACTIVE: frozenset({JobState.RUNNING}),
    ReservationState.EXPIRING: frozenset({JobState.RUNNING, JobState.SETTLING}),
    ReservationState.EXPIRED: frozenset({JobState.FINISHED}),
    ReservationState.CANCELLED: frozenset({JobState.CANCELLED}),
    ReservationState.FAILED: frozenset({JobState.FAILED}),
}
"""The states of its job in which a reservation can have a state."""
