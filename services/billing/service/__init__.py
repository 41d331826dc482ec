"""The gRPC services of billing, one a file: decode, ask, encode."""
