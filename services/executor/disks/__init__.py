"""Disks of reservations: homes that outlive their sessions, as series of snapshots (docs/disks.md)."""
