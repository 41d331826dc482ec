"""How long to time and what a time is: modes, sessions, stopping, statistics. Pure."""
