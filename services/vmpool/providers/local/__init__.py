"""Machines that are processes on this host."""
