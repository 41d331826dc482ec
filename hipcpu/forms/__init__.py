"""The forms that a kernel is compiled to: loops over the threads of a block, or threads that wait for each other."""
