"""Sandboxes made by bubblewrap."""
