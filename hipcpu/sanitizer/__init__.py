"""The cpu device's sanitizers: kernels that check each memory access, and report block, thread and source line."""
