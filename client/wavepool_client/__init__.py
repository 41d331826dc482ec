"""A client of Wavepool: submits HIP kernels over HTTP, follows them, and reads their results."""

from wavepool_client.client import Client

__all__ = ["Client"]
