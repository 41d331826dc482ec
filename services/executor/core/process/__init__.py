"""The judge's process: started ahead of time, runs one job, and is gone."""
