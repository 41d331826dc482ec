"""The two modules that clang makes of a source, for the host and for its kernels."""
