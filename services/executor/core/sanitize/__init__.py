"""Runs under sanitizers, which find wrong memory accesses and data races."""
