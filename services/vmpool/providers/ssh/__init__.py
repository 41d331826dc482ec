"""The way to a machine's executor over SSH."""
