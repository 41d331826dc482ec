"""The timed calls of a case, and which of their answers are compared."""
