"""Billing's database, one subject a file."""
