"""The problems: loaded, found by other names and element types, and linted."""
