"""The data of a run: its job, limits, seeds, verdicts, failures, findings, events, messages to a runner, and roofs."""
