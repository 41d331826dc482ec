"""The check of answers: the inputs of a call, the comparison, and the explanation of a failure."""
