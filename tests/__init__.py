"""The tests. A package with a file of its own: gpuhunt, which dstack needs, installs a top-level `tests` of its own."""
