"""Submissions over HTTP: taken in, followed, and shown."""
