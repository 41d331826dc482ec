"""The judge's process, which runs one job and ends, and the fork server, which starts it in advance."""
