"""Turns a process into a gRPC service; knows no business word."""
