"""HIP on NVIDIA GPUs: the same sources, compiled by nvcc through headers of ours."""
