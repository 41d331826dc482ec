"""How long to time and what a time is: modes, sessions, stopping, statistics, and whether it is VALID. Pure."""
