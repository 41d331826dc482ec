"""The executor: runs submissions on its own machine."""
