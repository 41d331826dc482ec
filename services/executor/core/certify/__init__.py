"""`certify`: one command that tests a machine and writes down the results."""
