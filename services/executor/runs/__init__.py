"""The runs of this executor, and the health check between them."""
