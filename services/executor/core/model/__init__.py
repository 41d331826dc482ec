"""The words of a run: its job, limits, seeds, verdicts, failures, findings, events, and the messages to a runner."""
