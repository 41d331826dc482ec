"""Launches by us: host code's requests to a device are recorded, turned into a launch program, and replayed."""
