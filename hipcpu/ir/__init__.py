"""What is known of LLVM IR: its text, blocks and loops, which values are the same in all threads, and strides."""
