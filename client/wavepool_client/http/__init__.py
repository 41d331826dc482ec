"""Talks to the gateway: where it is, calls, streams of events, and its errors as exceptions."""
