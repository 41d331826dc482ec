"""The tests. This file exists because gpuhunt, which dstack needs, installs a top-level package `tests` too."""
