"""Conversion of requests and answers between protos and the executor's own types."""
