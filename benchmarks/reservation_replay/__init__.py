"""Plays days of reservations through the scheduler's own decisions and estimates, in simulated time."""
