"""Machines that dstack rents from clouds."""
