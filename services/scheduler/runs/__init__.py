"""Jobs that have a machine: dispatch, runs, retries, cancellation and settlement; also the rescue of orphaned jobs."""
