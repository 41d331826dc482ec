"""The gRPC services of the scheduler, one a file: decode, ask, encode."""
