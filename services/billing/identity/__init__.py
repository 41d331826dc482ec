"""Decisions about accounts and their tokens. No I/O."""
