"""The problems: `catalogue/` has one folder for each; beside it, what they are written and loaded with."""
