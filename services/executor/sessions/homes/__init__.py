"""Homes of sessions: empty ones, those that a machine keeps, and those that are disks."""
