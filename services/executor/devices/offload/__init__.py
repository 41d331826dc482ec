"""What devices have in common whose compiler is a driver program that does everything: hipcc, nvcc."""
