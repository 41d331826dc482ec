"""The four gRPC services; none imports another."""
