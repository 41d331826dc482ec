"""A day of arrivals replayed through vmpool's policy in simulated time."""
