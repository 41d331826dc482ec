"""The judge's process, which runs one job and ends, and the process that forks it ahead of time."""
