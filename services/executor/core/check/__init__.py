"""Whether answers are right: the inputs of a call, the comparison, and what went wrong."""
