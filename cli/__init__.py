"""The `wavepool` command and the Python client; both talk to the gateway and to nothing else."""
