"""Conversion of jobs and events between protos and the scheduler's own types."""
