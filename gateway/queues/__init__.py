"""Queues over HTTP: documents that describe them, and what they have now."""
