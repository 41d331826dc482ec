"""Common parts of devices whose compiler is a single driver program: hipcc, nvcc."""
