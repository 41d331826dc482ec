"""Runs of dstack, each of which is a machine: what is asked for, what the server says of them, and what that means."""
