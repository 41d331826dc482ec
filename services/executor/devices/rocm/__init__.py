"""AMD GPUs through ROCm: hipcc, the HIP runtime, amdsmi, rocprofv3."""
