"""Turns a process into a gRPC service; contains no business logic."""
