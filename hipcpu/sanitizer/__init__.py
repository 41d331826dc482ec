"""The cpu device's sanitizers: kernels that check each access to memory, with their block, thread and source line."""
