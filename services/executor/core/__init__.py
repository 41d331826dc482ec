"""The core: compiles, checks and benchmarks. Of the services it imports only `devices` and `sandboxes`."""
