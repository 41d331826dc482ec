"""Loops that keep the record and the machines the same."""
