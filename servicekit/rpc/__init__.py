"""gRPC: channels, the server that every service runs on, its interceptors, and errors as statuses."""
