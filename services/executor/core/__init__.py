"""The compile, check and benchmark core. Of the services it imports `devices` and `sandboxes` alone."""
