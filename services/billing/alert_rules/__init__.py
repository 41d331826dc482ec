"""Decisions about alerts. No I/O."""
