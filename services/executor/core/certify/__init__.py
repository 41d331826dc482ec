"""`certify`: one command that finds out what works on a machine, and writes down what it saw."""
