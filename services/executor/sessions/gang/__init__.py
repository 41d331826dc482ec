"""A session that is a node of several: its place among them, and the ports at which the others reach it."""
