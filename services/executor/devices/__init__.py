"""Devices: the targets that submissions are compiled for and run on."""
