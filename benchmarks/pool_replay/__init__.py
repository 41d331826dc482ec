"""Replays a day of arrivals through vmpool's policy in simulated time."""
