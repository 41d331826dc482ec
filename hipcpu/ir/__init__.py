"""Analysis of LLVM IR: its text, blocks and loops, values that are uniform over threads, and strides."""
