"""Loops that keep the record and the machines in agreement."""
