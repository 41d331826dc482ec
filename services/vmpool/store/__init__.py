"""The database of vmpool, one subject per file."""
