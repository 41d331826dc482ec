"""Submissions over HTTP: accepted, followed, and shown."""
