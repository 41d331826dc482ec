"""HIP on NVIDIA GPUs: the same sources, compiled by nvcc with headers of ours."""
