"""What the problems of one kind share, so that a problem is mostly data."""
