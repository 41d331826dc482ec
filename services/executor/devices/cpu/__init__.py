"""HIP kernels on the host processor."""
