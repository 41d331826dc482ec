"""Analysis of LLVM IR: its text, blocks and loops, and values that are uniform over threads."""
