"""The boxes that hold compilers and user code."""
