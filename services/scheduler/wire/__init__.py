"""Jobs and events between protos and the scheduler's own types."""
