"""Queues that `benchmarks/jobs_per_second.py` measures beside each other: ours, Slurm, Celery."""
