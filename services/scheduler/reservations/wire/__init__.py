"""Conversion of reservations and disks between protos and the scheduler's own types."""
