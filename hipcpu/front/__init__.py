"""Clang's two passes over a source, the headers that it may include, and its messages for people."""
