"""One run from its job to its verdict."""
