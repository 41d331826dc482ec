"""Clients of billing, vmpool and executors."""
