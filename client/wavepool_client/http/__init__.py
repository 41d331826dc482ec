"""Talks to the gateway: connection settings, calls, event streams, and errors as exceptions."""
