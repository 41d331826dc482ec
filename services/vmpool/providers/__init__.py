"""Providers of machines: one protocol, and a folder for each adapter. `ssh/` connects to machines."""
