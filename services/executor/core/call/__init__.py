"""One runner and the calls that the judge orders from it."""
