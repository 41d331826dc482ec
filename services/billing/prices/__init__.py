"""Decisions about prices. No I/O."""
