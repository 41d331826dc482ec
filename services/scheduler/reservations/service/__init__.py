"""The RPCs about reservations and disks."""
