"""The sandboxes that hold compilers and user code."""
