"""Reservations from the request to the end of their sessions: admission, changes, attempts, disks, and their RPCs."""
