"""Clang's two passes over a source, the headers that it may name, and its messages as people read them."""
