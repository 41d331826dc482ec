"""Starts, supervises and stops the processes of a whole Wavepool on this machine."""
