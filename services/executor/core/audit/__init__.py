"""Tests whether a time can be believed: by chains of calls, by clocks that must agree, and by repeated calls."""
