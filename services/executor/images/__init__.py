"""Images of containers, fetched from registries and unpacked for sessions."""
