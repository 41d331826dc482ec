"""The compile, check and benchmark core; imports nothing of the services."""
