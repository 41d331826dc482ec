"""The time of a case: modes, sessions, when to stop, statistics, and whether it is VALID. Pure functions."""
