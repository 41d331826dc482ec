"""Whether a time can be believed: chains of calls, clocks that must agree, calls that are made again."""
