"""Tells people and Prometheus about money."""
