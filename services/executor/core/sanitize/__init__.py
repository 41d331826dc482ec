"""Runs under sanitizers, which find wrong accesses to memory and data races."""
