"""Hints for an author of a kernel, each with the reason that shows it."""
