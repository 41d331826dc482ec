"""Sandboxes that are containers of a Docker engine."""
