"""Converts proto messages to and from billing's own types, one file for each service."""
