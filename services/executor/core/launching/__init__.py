"""Launches by us: what host code asks of a device is recorded, understood as a launch program, and performed by us."""
